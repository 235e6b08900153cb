// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite("Errors of a sync engine", .hangs)
struct SyncErrorTests {
    static let modify = "private records/modify"

    static func state(pending names: String...) -> SyncState {
        var state = SyncState()
        state.userRecordName = "_me"
        for name in names { state.pendingRecords.add(PendingChangeTests.save(name)) }
        return state
    }

    static func fail(_ name: String, _ code: String, ck: Int? = nil) -> String {
        Answer.failedRecord(name, code, ext: ck.map { #","ext":{"ckCode":\#($0)}"# } ?? "")
    }

    static func code(_ body: () async throws -> Void) async -> CKError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? CKError)?.code
        }
    }

    @Test("SYNC-20, SYNC-21, C14: what is not the change's own fault stays pending, the rest goes")
    func pending() async {
        let answer = Answer.records(
            Answer.record("saved"), Self.fail("quota", "QUOTA_EXCEEDED"),
            Self.fail("held", "ATOMIC_ERROR"), Self.fail("busy", "TRY_AGAIN_LATER", ck: 23),
            Self.fail("conflict", "CONFLICT"), Self.fail("bad", "BAD_REQUEST"),
            Self.fail("denied", "ACCESS_DENIED")
        )
        let script = SyncScript([Self.modify: [.json(answer)]])
        let app = ScriptedSync()
        let names = ["saved", "quota", "held", "busy", "conflict", "bad", "denied"]
        var state = Self.state()
        for name in names { state.pendingRecords.add(PendingChangeTests.save(name)) }
        let engine = app.engine(TestDevice(script.transport), state: state)
        #expect(await Self.code { try await engine.sendChanges() } == .partialFailure)
        #expect(
            engine.state.pendingRecordZoneChanges
                == ["quota", "held", "busy"].map { PendingChangeTests.save($0) }
        )
        #expect(
            app.events == [
                "will send",
                "sent +saved !quota quotaExceeded !held batchRequestFailed !busy zoneBusy "
                    + "!conflict serverRecordChanged !bad invalidArguments "
                    + "!denied permissionFailure",
                "did send",
            ]
        )
    }

    @Test("A request that fails as a whole, whatever the reason, loses no change")
    func wholeRequest() async {
        let script = SyncScript([Self.modify: [.json("no JSON", status: 500)]])
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: Self.state(pending: "a", "b"))
        let code = await Self.code { try await engine.sendChanges() }
        #expect(code == .serverRejectedRequest)
        #expect(engine.state.pendingRecordZoneChanges.count == 2)
        #expect(app.events.last == "did send")
    }

    @Test("ERR-34: without room, further batches are not tried")
    func noRoom() async {
        let answer = (0..<250).map { Self.fail("\($0)", "QUOTA_EXCEEDED") }
        let body = #"{"records":[\#(answer.joined(separator: ","))]}"#
        let transport = SyncScript([Self.modify: [.json(body)]]).transport
        var state = Self.state()
        for number in 0..<600 { state.pendingRecords.add(PendingChangeTests.save("\(number)")) }
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: state)
        _ = await Self.code { try await engine.sendChanges() }
        #expect(transport.sent.filter { $0.endpoint == Self.modify }.count == 1)
        #expect(app.events.last == "did send")
        #expect(engine.state.pendingRecordZoneChanges.count == 600)
    }

    @Test(
        "LIMIT-20: what is too much for one request goes in halves; one too large alone is reported"
    )
    func halving() async throws {
        // The server takes two records at a time, and never "large".
        let transport = ScriptedTransport { sent, _ in
            if sent.endpoint == "public users/caller" { return .json(#"{"userRecordName":"_me"}"#) }
            let names = ["a", "b", "c", "d", "large"].filter { sent.body.contains("\"\($0)\"") }
            if names.count > 2 { return .json("too large", status: 413) }
            let items = names.map { name in
                name == "large"
                    ? Self.fail(name, "BAD_REQUEST", ck: 27) : Answer.record(name)
            }
            return .json(#"{"records":[\#(items.joined(separator: ","))]}"#)
        }
        let app = ScriptedSync()
        let engine = app.engine(
            TestDevice(transport),
            state: Self.state(pending: "a", "b", "c", "d", "large")
        )
        #expect(await Self.code { try await engine.sendChanges() } == .partialFailure)
        #expect(
            app.events == ["will send", "sent +a +b +c +d !large limitExceeded", "did send"]
        )
        #expect(engine.state.pendingRecordZoneChanges == [])
        // Five, two; then three, one, two; the last one of them fails by itself.
        #expect(transport.sent.filter { $0.endpoint == Self.modify }.count == 5)
    }

    @Test("TOK-21: after an expired token all is fetched, and zones no longer there are reported")
    func expiredDatabaseToken() async throws {
        let expired = #"{"serverErrorCode":"BAD_REQUEST","reason":"old","ext":{"ckCode":21}}"#
        let script = SyncScript([
            "private changes/database": [
                .json(expired, status: 400),
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Here"))),
            ],
            "private changes/zone": [
                .json(Answer.zones(Answer.page("Here", token: "z", Answer.record("r"))))
            ],
        ])
        var state = Self.state()
        state.databaseToken = CKServerChangeToken(syncToken: "t1")
        for name in ["Here", "Gone"] {
            state.zoneTokens[CKRecordZone.ID(zoneName: name)] = CKServerChangeToken(syncToken: "z")
        }
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: state)
        try await engine.fetchChanges()
        #expect(
            app.events == [
                "will fetch", "zones +Here -Gone deleted", "will fetch Here", "records +r",
                "did fetch Here ", "did fetch",
            ]
        )
        let kept = try #require(app.serialization).values
        #expect(kept.databaseToken == CKServerChangeToken(syncToken: "t9"))
        #expect(kept.zoneTokens.keys.map(\.zoneName) == ["Here"])
    }

    @Test("TOK-21: a zone whose token expired is fetched whole")
    func expiredZoneToken() async throws {
        let expired = Answer.failure(
            #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me"}"#,
            "BAD_REQUEST",
            ext: #","ext":{"ckCode":21}"#
        )
        let transport = SyncScript([
            "private changes/database": [
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Notes")))
            ],
            "private changes/zone": [
                .json(Answer.zones(expired)),
                .json(Answer.zones(Answer.page("Notes", token: "new", Answer.record("r")))),
            ],
        ]).transport
        var state = Self.state()
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        state.zoneTokens[zoneID] = CKServerChangeToken(syncToken: "old")
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: state)
        try await engine.fetchChanges()
        let fetches = transport.sent.filter { $0.endpoint == "private changes/zone" }.map(\.body)
        #expect(fetches.map { $0.contains("old") } == [true, false])
        #expect(app.events.contains("records +r"))
    }

    @Test("SYNC-15: zones are reported as deleted, purged, or gone in a reset")
    func reasons() async throws {
        let page = SyncScript.database(
            "t1",
            DatabaseChangesTests.gone("D", "deleted"),
            DatabaseChangesTests.gone("P", "purged"),
            DatabaseChangesTests.gone("R", "encryptedDataReset")
        )
        let script = SyncScript(["private changes/database": [.json(page)]])
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: Self.state())
        try await engine.fetchChanges()
        #expect(app.events[1] == "zones -D deleted -P purged -R encryptedDataReset")
    }

    @Test("SYNC-11, TOK-23: a zone that went meanwhile ends without stopping the others")
    func zoneGoneMeanwhile() async throws {
        func failed(_ zone: String, _ code: String) -> String {
            let zoneID = #""zoneID":{"zoneName":"\#(zone)","ownerRecordName":"_me"}"#
            return Answer.zones(Answer.failure(zoneID, code))
        }
        let script = SyncScript([
            "private changes/database": [
                .json(
                    SyncScript.database(
                        "t1",
                        DatabaseChangesTests.changed("Gone"),
                        DatabaseChangesTests.changed("Notes")
                    )
                )
            ],
            "private changes/zone": [
                .json(failed("Gone", "ZONE_NOT_FOUND")), .json(failed("Notes", "ACCESS_DENIED")),
            ],
        ])
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: Self.state())
        do {
            try await engine.fetchChanges()
            Issue.record("a zone that cannot be read is an error")
        } catch let error as CKError {
            #expect(error.code == .partialFailure)
            let zones = error.partialErrorsByItemID?.keys.compactMap { $0 as? CKRecordZone.ID }
            #expect(zones?.map(\.zoneName) == ["Notes"])
        }
        #expect(
            app.events.filter { $0.hasPrefix("did fetch") } == [
                "did fetch Gone zoneNotFound", "did fetch Notes permissionFailure", "did fetch",
            ]
        )
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges.map(\.zoneName) == ["Notes"])
    }

    @Test("ERR-18: a token the server refuses is no sign-out: nothing is reported or dropped")
    func refusedToken() async {
        let refusal = #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"expired"}"#
        let script = SyncScript(["public users/caller": [.json(refusal, status: 401)]])
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: Self.state(pending: "a"))
        #expect(await Self.code { try await engine.sendChanges() } == .notAuthenticated)
        #expect(app.events == [])
        #expect(engine.state.pendingRecordZoneChanges.count == 1)
    }

    @Test("SYNC-20, ERR-6: by itself the engine waits as long as the server asks, then sends")
    func retryAfter() async {
        let busy = #"{"serverErrorCode":"THROTTLED","reason":"slow down","retryAfter":30}"#
        let script = SyncScript([
            Self.modify: [
                .json(busy, status: 503), .json(Answer.records(Answer.record("a"))),
            ],
            // The subscription exists.
            "private subscriptions/list": [
                .json(
                    Answer.subscriptions(
                        #"{"subscriptionID":"s","subscriptionType":"database"}"#
                    )
                )
            ],
        ])
        let clock = ManualClock()
        let app = ScriptedSync()
        let engine = app.engine(
            TestDevice(script.transport, clock: clock),
            automatically: true,
            state: Self.state(pending: "a")
        )
        await app.until("sent !a requestRateLimited")
        // There is no stream, which is tried again all the time; this is the other sleep.
        await clock.until { $0.contains { $0 >= .seconds(30) } }
        clock.advance(by: .milliseconds(29_999))
        #expect(app.events.contains("sent +a") == false)
        clock.advance(by: .milliseconds(1))
        await app.until("sent +a")
        #expect(engine.state.pendingRecordZoneChanges == [])
    }
}
