// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

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

    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private func modify(
        _ type: String, _ id: String, in api: TestAPI
    ) async throws -> TestAPI.Answer {
        try await api.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"\(type)","subscription":{"subscriptionID":"\(id)",\
            "subscriptionType":"database"}}]}
            """
        )
    }

    /// The IDs of an answer, byte for byte.
    private func ids(_ answer: TestAPI.Answer) throws -> [ExactText] {
        let response = try JSONReader.read(
            Array(answer.text.utf8), SubscriptionsResponse.init(from:))
        return response.subscriptions.compactMap {
            if case .subscription(let found) = $0 { ExactText(found.subscriptionID) } else { nil }
        }
    }

    @Test("SUB-29: an ID in another form of Unicode is another subscription's")
    func formsOfUnicode() async throws {
        let api = try await TestAPI()
        let (composed, decomposed) = (ExactText(Self.composed), ExactText(Self.decomposed))
        _ = try await modify("create", Self.composed, in: api)
        let deleted = try await modify("delete", Self.decomposed, in: api)
        #expect(deleted.text.contains("NOT_FOUND"))
        #expect(try ids(await api.get("private/subscriptions/list")) == [composed])
        _ = try await modify("update", Self.decomposed, in: api)
        let lookup =
            #"{"subscriptions":[{"subscriptionID":"\#(Self.composed)"},"#
            + #"{"subscriptionID":"\#(Self.decomposed)"}]}"#
        let found = try await api.post("private/subscriptions/lookup", lookup)
        #expect(try ids(found) == [composed, decomposed])
        _ = try await modify("delete", Self.composed, in: api)
        #expect(try ids(await api.get("private/subscriptions/list")) == [decomposed])
        let one = try await api.post("private/subscriptions/lookup", lookup)
        #expect(try ids(one) == [decomposed])
    }

    @Test("The bound of subscriptions counts IDs in each form of Unicode")
    func formsAreCounted() async throws {
        var limits = Limits()
        limits.subscriptionsPerUser = 1
        let api = try await TestAPI(limits: limits)
        _ = try await modify("create", Self.composed, in: api)
        let second = try await modify("create", Self.decomposed, in: api)
        #expect(second.text.contains("(subscriptionsPerUser)"))
        #expect(try ids(await api.get("private/subscriptions/list")).count == 1)
    }
}

extension TestAPI.Answer {
    /// Status and text alone.
    var withoutHeaders: TestAPI.Answer { TestAPI.Answer(status: status, text: text) }
}
