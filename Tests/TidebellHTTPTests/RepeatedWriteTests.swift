// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellServer
import TidebellWire
import TestSupport

@Suite("Writes that are sent again")
struct RepeatedWriteTests {
    private static let header = "X-Tidebell-Request-ID"

    /// A new record under a name the server chooses: done twice there are two.
    private static let create = """
        {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create",\
        "record":{"recordType":"Note","fields":{}}}]}
        """

    private func save(
        _ api: TestAPI, as requestID: String?, from client: String = "phone",
        _ body: String = Self.create
    ) async throws -> TestAPI.Answer {
        try await api.post(
            "private/records/modify", body, query: "&clientId=\(client)",
            headers: requestID.map { [Self.header: $0] } ?? [:]
        )
    }

    private func records(_ api: TestAPI) async throws -> Int {
        let page = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        return page.text.matches(of: /"recordName"/).count
    }

    @Test("A write is done once, and gives the same answer each time")
    func doneOnce() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let first = try await save(api, as: "op/records/modify/1")
        api.clock.advance(by: .seconds(5))
        let second = try await save(api, as: "op/records/modify/1")
        #expect(first.status == 200 && second.status == 200)
        #expect(first.text == second.text)
        #expect(second[header: "Content-Type"] == "application/json; charset=UTF-8")
        #expect(try await records(api) == 1)
    }

    @Test("It is done once also when both come at the same time")
    func concurrently() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        async let first = save(api, as: "1")
        async let second = save(api, as: "1")
        let texts = try await [first.text, second.text]
        #expect(texts[0] == texts[1])
        #expect(try await records(api) == 1)
    }

    @Test("Another ID, another device and no ID are other writes")
    func otherWrites() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        for (id, client) in [("1", "phone"), ("2", "phone"), ("1", "pad"), (nil, "phone")] {
            #expect(try await save(api, as: id, from: client).status == 200)
        }
        #expect(try await save(api, as: nil).status == 200)
        #expect(try await records(api) == 5)
    }

    @Test("Another request under the same ID is BAD_REQUEST, in body or endpoint")
    func otherRequest() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await save(api, as: "1")
        let other = Self.create.replacing("Note\"", with: "Memo\"")
        let expected = WireError.badRequest(
            "the X-Tidebell-Request-ID '1' was used for another request; give each write its own"
        )
        #expect(try await save(api, as: "1", other).error == expected)
        let elsewhere = try await api.post(
            "public/records/modify", Self.create, query: "&clientId=phone",
            headers: [Self.header: "1"]
        )
        #expect(elsewhere.error == expected)
        #expect(try await records(api) == 1)
        let long = try await save(api, as: String(repeating: "x", count: 256))
        #expect(long.error?.reason == "the header '\(Self.header)' is longer than 255 bytes")
    }

    @Test("A write that failed as a whole leaves nothing: the next attempt does it")
    func failedWrites() async throws {
        let api = try await TestAPI()
        let first = try await save(api, as: "1")
        #expect(first.error?.code == .zoneNotFound)
        try await api.makeZone("Notes")
        #expect(try await save(api, as: "1").status == 200)
    }

    @Test("Zones and subscriptions are written once too")
    func zonesAndSubscriptions() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let delete = """
            {"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}
            """
        let subscribe = """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
            "subscriptionType":"database","zoneWide":true}}]}
            """
        for (path, body) in [
            ("private/zones/modify", delete), ("private/subscriptions/modify", subscribe),
        ] {
            let first = try await api.post(path, body, headers: [Self.header: path])
            let second = try await api.post(path, body, headers: [Self.header: path])
            #expect(first.status == 200)
            #expect(first.text == second.text)
        }
        // Without the ID the second deletion would have failed.
        #expect(try await api.post("private/zones/modify", delete).text.contains("ZONE_NOT_FOUND"))
    }

    @Test("A write with conflicts is done once too, however long its answer is")
    func longAnswers() async throws {
        var limits = Limits()
        limits.keptAnswerLength = 10_000
        let api = try await TestAPI(limits: limits)
        let long = String(repeating: "x", count: 20_000)
        let big = { (name: String) in
            #"{"operationType":"create","record":{"recordName":"\#(name)","recordType":"Note","#
                + #""fields":{"text":{"value":"\#(long)"}}}}"#
        }
        for name in ["a", "b"] {
            _ = try await save(api, as: nil, #"{"operations":[\#(big(name))]}"#)
        }
        let batch = """
            {"operations":[\(big("a")),\(big("b")),\(big("c")),{"operationType":"create",\
            "record":{"recordType":"Note","fields":{}}}]}
            """
        let answers = try await [1, 2].asyncMap { _ in
            try await api.post(
                "private/records/modify", batch, query: "&clientId=phone",
                headers: [Self.header: "1", WireProtocol.extensionsHeader: "1"]
            )
        }
        #expect(answers[0].text.contains("serverRecord") && answers[0].text.contains(long))
        #expect(!answers[1].text.contains("serverRecord") && !answers[1].text.contains(long))
        let names = answers.map { answer in
            answer.text.replacing(/"serverRecord":\{"recordName":"[^"]*"/, with: "")
                .matches(of: /"recordName":"([^"_]+)"/).map { String($0.output.1) }
        }
        #expect(names[0].count == 4)
        #expect(names[0] == names[1])
        let tags = answers.map { answer in
            answer.text.matches(of: /"recordChangeTag":"([^"]+)"/).suffix(2).map(\.output.1)
        }
        #expect(tags[0] == tags[1])
    }

    @Test("A batch that did nothing keeps its conflicts, however long they are")
    func longConflicts() async throws {
        var limits = Limits()
        limits.keptAnswerLength = 10_000
        let api = try await TestAPI(limits: limits)
        try await api.makeZone("Notes")
        let batch = """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create",\
            "record":{"recordName":"a","recordType":"Note","fields":{\
            "text":{"value":"\(String(repeating: "x", count: 20_000))"}}}}]}
            """
        _ = try await save(api, as: nil, batch)
        let answers = try await [1, 2].asyncMap { _ in
            try await api.post(
                "private/records/modify", batch, query: "&clientId=phone",
                headers: [Self.header: "1", WireProtocol.extensionsHeader: "1"]
            )
        }
        #expect(answers[0].text.contains("serverRecord"))
        #expect(answers[0].text == answers[1].text)
    }

    @Test("Kept answers go after a day")
    func collected() async throws {
        var limits = Limits()
        limits.answerRetention = .seconds(100)
        let api = try await TestAPI(limits: limits)
        try await api.makeZone("Notes")
        _ = try await save(api, as: "1")
        for case let maintenance as Maintenance in api.cloud.services {
            await maintenance.round()
            _ = try await save(api, as: "1")
            #expect(try await records(api) == 1)
            api.clock.advance(by: .seconds(101))
            await maintenance.round()
            _ = try await save(api, as: "1")
            #expect(try await records(api) == 2)
        }
    }
}

extension Array {
    /// Maps the elements one after the other.
    fileprivate func asyncMap<Value>(
        _ transform: (Element) async throws -> Value
    ) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
