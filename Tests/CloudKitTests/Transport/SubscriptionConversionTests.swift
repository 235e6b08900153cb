// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct SubscriptionConversionTests {
    /// A subscription of each kind as the app makes it and as the wire carries it.
    static let kinds: [(CKSubscription, String)] = {
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion, .firesOnce]
        )
        query.zoneID = CKRecordZone.ID(zoneName: "Notes")
        let info = CKSubscription.NotificationInfo()
        info.title = "T"
        info.alertLocalizationArgs = ["a"]
        info.desiredKeys = ["k"]
        info.shouldBadge = true
        query.notificationInfo = info
        let everywhere = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(value: true),
            subscriptionID: "e"
        )
        let zone = CKRecordZoneSubscription(
            zoneID: CKRecordZone.ID(zoneName: "Notes"),
            subscriptionID: "z"
        )
        zone.recordType = "Note"
        let database = CKDatabaseSubscription(subscriptionID: "d")
        let silent = CKSubscription.NotificationInfo()
        silent.shouldSendContentAvailable = true
        database.notificationInfo = silent
        return [
            (
                query,
                #"{"subscriptionID":"q","subscriptionType":"query","zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"query":{"recordType":"Note","filterBy":[]},"firesOn":["create","delete"],"firesOnce":true,"notificationInfo":{"title":"T","additionalFields":["k"],"alertLocalizationArgs":["a"],"shouldBadge":true}}"#
            ),
            (
                everywhere,
                #"{"subscriptionID":"e","subscriptionType":"query","zoneWide":true,"query":{"recordType":"Note","filterBy":[]},"firesOn":["create","update","delete"],"firesOnce":false}"#
            ),
            (
                zone,
                #"{"subscriptionID":"z","subscriptionType":"zone","zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"recordType":"Note"}"#
            ),
            (
                database,
                #"{"subscriptionID":"d","subscriptionType":"database","notificationInfo":{"shouldSendContentAvailable":true}}"#
            ),
        ]
    }()

    @Test("SUB-1: every kind is sent as the wire knows it", arguments: kinds.indices)
    func everyKindIsSent(row: Int) async throws {
        let (subscription, wire) = Self.kinds[row]
        let transport = ScriptedTransport(answering: Answer.subscriptions(wire))
        _ = try await TestDevice(transport).database.save(subscription)
        #expect(
            transport.sent.map(\.body)
                == [#"{"operations":[{"operationType":"create","subscription":\#(wire)}]}"#]
        )
        #expect(transport.sent.map(\.endpoint) == ["private subscriptions/modify"])
    }

    @Test("SUB-1: every kind is read back equal", arguments: kinds.indices)
    func everyKindIsReadBack(row: Int) async throws {
        let (subscription, wire) = Self.kinds[row]
        let transport = ScriptedTransport(answering: Answer.subscriptions(wire))
        let found = try await TestDevice(transport).database
            .subscription(for: subscription.subscriptionID)
        #expect(found == subscription)
        #expect(type(of: found) == type(of: subscription))
    }

    @Test("A predicate other than TRUEPREDICATE is refused for now")
    func otherPredicatesAreRefused() async {
        let transport = ScriptedTransport(answering: "{}")
        for predicate in [
            NSPredicate(value: false), NSPredicate { _, _ in true },
            NSCompoundPredicate(andPredicateWithSubpredicates: []),
        ] {
            let subscription = CKQuerySubscription(
                recordType: "Note",
                predicate: predicate,
                subscriptionID: "q"
            )
            let result = await Result {
                try await TestDevice(transport).database.save(subscription)
            }
            #expect(
                text(result) == "invalidArguments: Subscription 'q' cannot be saved: predicates "
                    + "other than TRUEPREDICATE are not supported yet."
            )
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("A subscription with filters is not shown as one without")
    func filtersAreNotLost() async {
        let wire = """
            {"subscriptionID":"q","subscriptionType":"query","query":{"recordType":"Note",\
            "filterBy":[{"fieldName":"a"}]},"firesOn":["create"]}
            """
        let transport = ScriptedTransport(answering: Answer.subscriptions(wire))
        let result = await Result {
            try await TestDevice(transport).database.allSubscriptions()
        }
        #expect(
            text(result) == "invalidArguments: Subscription 'q' cannot be shown: predicates "
                + "other than TRUEPREDICATE are not supported yet."
        )
    }
}
