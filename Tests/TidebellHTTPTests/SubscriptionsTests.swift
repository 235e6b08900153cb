// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("subscriptions/list, lookup, modify")
struct SubscriptionsTests {
    private static let create = """
        {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
        "subscriptionType":"database","notificationInfo":{"shouldSendContentAvailable":true}}}]}
        """
    private static let stored =
        #"{"subscriptionID":"all","subscriptionType":"database","#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}"#

    @Test("A saved subscription comes back, is listed and looked up (5.10)")
    func roundTrip() async throws {
        let api = try await TestAPI()
        let expected = TestAPI.Answer(status: 200, text: #"{"subscriptions":[\#(Self.stored)]}"#)
        for answer in [
            try await api.post("private/subscriptions/modify", Self.create),
            try await api.get("private/subscriptions/list"),
            try await api.post("private/subscriptions/list", "{}"),
            try await api.post(
                "private/subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"all"}]}"#
            ),
        ] {
            #expect(answer.withoutHeaders == expected)
        }
    }

    @Test("A deleted subscription is acknowledged with its ID and deleted (5.10)")
    func deletes() async throws {
        let api = try await TestAPI()
        _ = try await api.post("private/subscriptions/modify", Self.create)
        let answer = try await api.post(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"all"}}]}"#
        )
        #expect(answer.text == #"{"subscriptions":[{"subscriptionID":"all","deleted":true}]}"#)
        let list = try await api.get("private/subscriptions/list")
        #expect(list.text == #"{"subscriptions":[]}"#)
    }

    @Test("A missing subscription is an item (5.10)")
    func missing() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"no"}]}"#
        )
        #expect(answer.status == 200)
        #expect(answer.text.hasPrefix(#"{"subscriptions":[{"subscriptionID":"no","reason":""#))
        #expect(answer.text.hasSuffix(#""serverErrorCode":"NOT_FOUND"}]}"#))
    }

    @Test("SUB-28: an empty ID fails its item, not the request")
    func emptyID() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"update","subscription":{"subscriptionID":"",\
            "subscriptionType":"database"}}]}
            """
        )
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""serverErrorCode":"BAD_REQUEST""#))
        #expect(answer.text.contains("the subscriptionID is empty"))
    }
}

extension TestAPI.Answer {
    /// Status and text alone.
    var withoutHeaders: TestAPI.Answer { TestAPI.Answer(status: status, text: text) }
}
