// SPDX-License-Identifier: Apache-2.0
import Logging
import TestSupport
import Testing
import TidebellCore

@Suite("What Apple refuses and this server lets through")
struct LeniencyTests {
    private static let subscription = """
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
        "subscriptionType":"database"}}]}
        """
    private static let query = #"{"query":{"recordType":"Note"}}"#

    @Test("SUB-68, QUERY-14: it is logged once, and answered as ever")
    func logged() async throws {
        let api = try await TestAPI(logLevel: .notice)
        _ = try await api.post(
            "private/records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordType":"Note"}}]}"#)
        for _ in 0..<2 {
            #expect(
                try await api.post("private/subscriptions/modify", Self.subscription).status == 200)
            #expect(try await api.post("private/records/query", Self.query).status == 200)
        }
        let entries = api.log.entries.filter { $0.message.contains("Apple's servers refuse it") }
        #expect(
            entries.map(\.message) == [
                "subscription 'all': Apple's servers refuse it: the subscription has no "
                    + "notificationInfo; set one, with shouldSendContentAvailable for a push that "
                    + "shows nothing (SUB-68: Apple's header demands it before a save)",
                "a query of 'Note': Apple's servers refuse it: Field 'recordName' is not marked "
                    + "queryable; in CloudKit's console, 'Note' needs an index on recordName for a "
                    + "query without conditions (QUERY-14)",
            ])
        #expect(entries.allSatisfy { $0.level == .notice && $0.metadata["database"] == "private" })
    }

    @Test("SUB-68, QUERY-14: with --strictness apple it is refused, and not logged")
    func refused() async throws {
        var limits = Limits()
        limits.strictness = .apple
        let api = try await TestAPI(limits: limits, logLevel: .notice)
        _ = try await api.post(
            "private/records/modify",
            #"{"operations":[{"operationType":"create","record":{"recordType":"Note"}}]}"#)
        let subscribed = try await api.post("private/subscriptions/modify", Self.subscription)
        #expect(subscribed.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(try await api.get("private/subscriptions/list").text == #"{"subscriptions":[]}"#)
        #expect(try await api.post("private/records/query", Self.query).status == 400)
        #expect(!api.log.lines.contains { $0.contains("Apple's servers") })
    }
}
