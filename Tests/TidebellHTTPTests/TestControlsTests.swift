// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// What tests in other languages hold a server by (web-services 9).
@Suite("A server for tests", .hangs)
struct TestControlsTests {
    private static let save = """
        {"operations":[{"operationType":"forceUpdate","record":\
        {"recordName":"a","recordType":"Note","fields":{}}}]}
        """

    /// A cloud with controls, which call its clock, and a management token.
    private static func cloud() async throws -> (api: TestAPI, token: String) {
        let api = try await TestAPI(hasControls: true)
        return (api, try await api.cloud.accounts.makeAdminToken(named: "test"))
    }

    private static func control(
        _ api: TestAPI, _ what: String, _ body: String = "", token: String?
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "POST", "/admin/1/\(what)", body,
            headers: token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }

    @Test("A server that was not started for tests has neither")
    func others() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.makeAdminToken(named: "test")
        for what in ["clock", "faults"] {
            let answer = try await Self.control(api, what, "{}", token: token)
            #expect(answer.status == 404)
            #expect(
                answer.error?.reason == "could not find handler for endpoint '/admin/1/\(what)'")
        }
    }

    @Test("Only who has a management token holds it")
    func access() async throws {
        let (api, token) = try await Self.cloud()
        for what in ["clock", "faults"] {
            for wrong in [nil, "no", api.apiToken, api.webToken] {
                #expect(try await Self.control(api, what, "{}", token: wrong).status == 401)
            }
            #expect(try await Self.control(api, what, "{}", token: token).status == 200)
        }
    }

    @Test("The time moves forward by what is asked, and what ends by then has ended")
    func clock() async throws {
        let (api, token) = try await Self.cloud()
        let start = api.clock.instant
        let asked = try await Self.control(api, "clock", token: token)
        #expect(asked.text == #"{"now":\#(start.rawValue)}"#)
        let session = try await api.cloud.accounts.makeWebToken(for: Accounts.firstUser)
        let target = TestAPI.target("private/zones/list", apiToken: api.apiToken, webToken: session)
        #expect(try await api.send("GET", target).status == 200)
        let moved = try await Self.control(api, "clock", #"{"advance":31536000.5}"#, token: token)
        #expect(moved.text == #"{"now":\#(start.rawValue + 31_536_000_500)}"#)
        #expect(try await api.send("GET", target).status == 421)
        for wrong in [#"{"advance":-1}"#, #"{"advance":1e10}"#, #"{"advance":"1"}"#] {
            #expect(try await Self.control(api, "clock", wrong, token: token).status == 400)
        }
    }

    @Test("Requests meet the faults that are for them, so often, and then are answered again")
    func faults() async throws {
        let (api, token) = try await Self.cloud()
        let list = """
            {"faults":[{"action":"records/modify","serverErrorCode":"THROTTLED","retryAfter":3.0,\
            "times":2},{"container":"iCloud.org.example.other","serverErrorCode":"INTERNAL_ERROR",\
            "times":1},{"serverErrorCode":"TRY_AGAIN_LATER","ckCode":23,"reason":"busy",\
            "times":1}]}
            """
        #expect(try await Self.control(api, "faults", list, token: token).text == list)
        let first = try await api.post("public/records/modify", Self.save)
        #expect(first.status == 429 && first[header: "Retry-After"] == "3")
        #expect(first.error?.retryAfter == 3)
        // What is for whatever comes is met by what meets nothing before it in the list.
        let busy = try await api.post(
            "public/records/lookup", #"{"records":[]}"#, headers: ["X-Tidebell-Extensions": "1"])
        #expect(busy.status == 503 && busy.error?.detail?.ckCode == 23)
        #expect(busy.error?.reason == "busy")
        #expect(try await api.post("public/records/modify", Self.save).status == 429)
        #expect(try await api.post("public/records/modify", Self.save).status == 200)
        let left = try await Self.control(api, "faults", token: token)
        #expect(
            left.text
                == #"{"faults":[{"container":"iCloud.org.example.other","#
                + #""serverErrorCode":"INTERNAL_ERROR","times":1}]}"#)
        #expect(
            try await Self.control(api, "faults", #"{"faults":[]}"#, token: token).text
                == #"{"faults":[]}"#)
    }

    @Test("A fault after the work loses the answer and not the save; production meets none")
    func afterWork() async throws {
        let (api, token) = try await Self.cloud()
        let fault = #"{"faults":[{"serverErrorCode":"TRY_AGAIN_LATER","afterWork":true}]}"#
        _ = try await Self.control(api, "faults", fault, token: token)
        let production = api.target("public/users/caller")
            .replacing("development", with: "production")
        #expect(try await api.send("GET", production).status == 200)
        #expect(try await api.post("public/records/modify", Self.save).status == 503)
        let found = try await api.post(
            "public/records/lookup", #"{"records":[{"recordName":"a"}]}"#)
        #expect(found.text.contains(#""recordChangeTag""#))
    }

    @Test("What is no fault is refused, and named")
    func wrongFaults() async throws {
        let (api, token) = try await Self.cloud()
        for (fault, reason) in [
            ("{}", "a fault has the serverErrorCode that requests get"),
            (#"{"serverErrorCode":"NO"}"#, "'NO' is not a serverErrorCode"),
            (#"{"serverErrorCode":"CONFLICT","time":1}"#, "a fault has no 'time'"),
            (#"{"serverErrorCode":"CONFLICT","times":0}"#, "times must be 1 to 10000"),
            (
                #"{"serverErrorCode":"CONFLICT","retryAfter":-1}"#,
                "retryAfter must be 0 to 86400 seconds"
            ),
        ] {
            let answer = try await Self.control(
                api, "faults", #"{"faults":[\#(fault)]}"#, token: token)
            #expect(answer.status == 400 && answer.error?.reason == reason, "\(answer.text)")
        }
        #expect(try await Self.control(api, "faults", token: token).text == #"{"faults":[]}"#)
    }

    @Test("Who sleeps on a clock that is moved wakes up when its moment is there, and not before")
    func sleepers() async throws {
        let base = StepClock(at: TestAPI.start)
        let clock = ShiftedClock(Time(now: { base.instant }, clock: base))
        let start = clock.now
        let sleeper = Task {
            try await clock.sleep(for: .seconds(60))
            return start.duration(to: clock.now)
        }
        let byBase = Task { try await clock.sleep(for: .seconds(100)) }
        await base.untilSleeping(2)
        clock.advance(by: .seconds(59))
        // Both nap again, for what is left.
        await base.waitForSleeper(of: .seconds(1))
        await base.waitForSleeper(of: .seconds(41))
        #expect(clock.time.now() == TestAPI.start.advanced(by: .seconds(59)))
        clock.advance(by: .seconds(1))
        #expect(try await sleeper.value == .seconds(60))
        await base.waitForSleeper(of: .seconds(40))
        base.advance(by: .seconds(40))
        try await byBase.value
        #expect(clock.time.elapsed() == .seconds(100))
        let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
