// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct SubscriptionOperationTests {
    static let wire = #"{"subscriptionID":"a","subscriptionType":"database"}"#
    static let missing = Answer.failure(#""subscriptionID":"b""#, "NOT_FOUND")

    @Test("ERR-3, ERR-4: saving and deleting with old and with new callbacks")
    func savingAndDeleting() async {
        let transport = ScriptedTransport(
            answering: Answer.subscriptions(Self.wire, Self.missing)
        )
        let database = TestDevice(transport).database
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        func operation() -> CKModifySubscriptionsOperation {
            CKModifySubscriptionsOperation(
                subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "a")],
                subscriptionIDsToDelete: ["b"]
            )
        }
        let old = operation()
        OldModifySubscriptions().on(old, log, errors: errors)
        await database.runToEnd(old)
        let new = operation()
        new.perSubscriptionSaveBlock = { log.add("save \($0) \(text($1))") }
        new.perSubscriptionDeleteBlock = { log.add("delete \($0) \(text($1))") }
        new.modifySubscriptionsResultBlock = { log.add("result \(text($0))") }
        await database.runToEnd(new)
        #expect(
            log.lines == [
                "completion saved [a] deleted [] partialFailure: Failed to modify some items (1).",
                "save a success", "delete b unknownItem: because of NOT_FOUND",
                "result success",
            ]
        )
        #expect(errors.current?.partialCodes == ["b": .unknownItem])
        let body =
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"a","subscriptionType":"database"}},{"operationType":"delete","subscription":{"subscriptionID":"b"}}]}"#
        #expect(transport.sent.map(\.body) == [body, body])
    }

    @Test("ERR-3, ERR-4: fetching with old and with new callbacks")
    func fetching() async {
        let transport = ScriptedTransport(
            answering: Answer.subscriptions(Self.wire, Self.missing)
        )
        let database = TestDevice(transport).database
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        let old = CKFetchSubscriptionsOperation(subscriptionIDs: ["a", "b"])
        OldFetchSubscriptions().on(old, log, errors: errors)
        await database.runToEnd(old)
        let new = CKFetchSubscriptionsOperation(subscriptionIDs: ["a", "b"])
        new.perSubscriptionResultBlock = { log.add("subscription \($0) \(text($1))") }
        new.fetchSubscriptionsResultBlock = { log.add("result \(text($0))") }
        await database.runToEnd(new)
        #expect(
            log.lines == [
                "completion [a] partialFailure: Failed to modify some items (1).",
                "subscription a success", "subscription b unknownItem: because of NOT_FOUND",
                "result success",
            ]
        )
        #expect(errors.current?.partialCodes == ["b": .unknownItem])
        #expect(
            transport.sent.first?.body
                == #"{"subscriptions":[{"subscriptionID":"a"},{"subscriptionID":"b"}]}"#
        )
    }

    @Test("A failing list fails the operation, for there are no items to report")
    func aFailingList() async {
        let transport = ScriptedTransport { _, _ in
            .json(#"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#, status: 403)
        }
        let database = TestDevice(transport).database
        let result = await Result { try await database.allSubscriptions() }
        #expect(text(result) == "permissionFailure: no")
    }

    @Test("The convenience forms for one subscription")
    func convenienceFormsForOneSubscription() async throws {
        let transport = ScriptedTransport { sent, _ in
            .json(
                Answer.subscriptions(
                    sent.body.contains("delete")
                        ? #"{"subscriptionID":"a","deleted":true}"# : Self.wire
                )
            )
        }
        let database = TestDevice(transport).database
        let subscription = CKDatabaseSubscription(subscriptionID: "a")
        #expect(try await database.save(subscription) == subscription)
        #expect(try await database.subscription(for: "a") == subscription)
        #expect(try await database.allSubscriptions() == [subscription])
        #expect(try await database.deleteSubscription(withID: "a") == "a")
        let fetched = await withCheckedContinuation { continuation in
            database.fetch(withSubscriptionID: "a") { subscription, error in
                continuation.resume(
                    returning: "\(subscription?.subscriptionID ?? "nil") \(text(error))")
            }
        }
        #expect(fetched == "a nil")
    }

    @Test("LIMIT-1: more than 400 subscriptions are refused with Apple's sentence")
    func tooManyItems() async {
        let transport = ScriptedTransport(answering: "{}")
        let ids = (0..<401).map { "s\($0)" }
        let database = TestDevice(transport).database
        let results = [
            text(await Result { try await database.subscriptions(for: ids) }),
            text(
                await Result { try await database.modifySubscriptions(saving: [], deleting: ids) }),
        ]
        let reason =
            "limitExceeded: Your request contains 401 items which is more than the maximum "
            + "number of items in a single request (400); split it into several"
        #expect(results == [reason, reason])
        #expect(transport.sent.isEmpty)
    }
}
