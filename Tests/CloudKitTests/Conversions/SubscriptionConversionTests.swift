// SPDX-License-Identifier: Apache-2.0
import CoreLocation
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

    @Test("SUB-22: a predicate CloudKit refuses is refused before anything is sent")
    func refusedPredicates() async {
        let transport = ScriptedTransport(answering: "{}")
        let rows: [(NSPredicate, String)] = [
            (
                NSPredicate { _, _ in true },
                "A predicate made of a block cannot be asked of a server: make it of a format."
            ),
            (
                NSPredicate(format: "name LIKE 'x*'"),
                "LIKE in 'name LIKE \"x*\"' is not supported by CloudKit. Compare texts by == or "
                    + "BEGINSWITH, or search them by words with SELF CONTAINS."
            ),
        ]
        for (predicate, reason) in rows {
            let subscription = CKQuerySubscription(
                recordType: "Note",
                predicate: predicate,
                subscriptionID: "q"
            )
            let result = await Result {
                try await TestDevice(transport).database.save(subscription)
            }
            #expect(text(result) == "invalidArguments: Invalid predicate: \(reason)")
        }
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "SUB-22: the current user is sent by name, asked for when it is not known, and shown back")
    func currentUser() async throws {
        let user = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        let subscription = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "creatorUserRecordID == %@", user),
            subscriptionID: "q",
            options: .firesOnRecordCreation
        )
        let wire =
            #"{"subscriptionID":"q","subscriptionType":"query","zoneWide":true,"#
            + #""query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","#
            + #""systemFieldName":"createdUserRecordName","fieldValue":{"value":"#
            + #"{"recordName":"_me","action":"NONE"},"type":"REFERENCE"}}]},"#
            + #""firesOn":["create"],"firesOnce":false}"#
        let transport = ScriptedTransport { sent, _ in
            .json(
                sent.endpoint.hasSuffix("users/caller")
                    ? #"{"userRecordName":"_me"}"# : Answer.subscriptions(wire)
            )
        }
        let database = TestDevice(transport).database
        _ = try await database.save(subscription)
        #expect(
            transport.sent.map(\.endpoint)
                == ["public users/caller", "private subscriptions/modify"]
        )
        #expect(transport.sent.last?.body.contains(wire) == true)
        #expect(try await database.subscription(for: "q") == subscription)
    }

    /// Predicates and the filters they are sent as, for a subscription to the zone "Notes".
    static var predicates: [(NSPredicate, filters: String)] {
        [
            (NSPredicate(value: true), "[]"),
            (
                NSPredicate(value: false),
                #"[{"comparator":"IN","systemFieldName":"recordName","fieldValue":{"value":[],"type":"STRING_LIST"}}]"#
            ),
            (
                NSPredicate(format: "name == %@ AND size BETWEEN %@", "x", [1, 2.5]),
                #"[{"comparator":"EQUALS","fieldName":"name","fieldValue":{"value":"x","type":"STRING"}},{"comparator":"GREATER_THAN_OR_EQUALS","fieldName":"size","fieldValue":{"value":1.0,"type":"DOUBLE"}},{"comparator":"LESS_THAN_OR_EQUALS","fieldName":"size","fieldValue":{"value":2.5,"type":"DOUBLE"}}]"#
            ),
            (
                NSCompoundPredicate(andPredicateWithSubpredicates: [
                    NSPredicate(format: "NOT (size IN %@)", [1, 2.5]),
                    NSPredicate(
                        format: "creationDate > %@",
                        Date(timeIntervalSince1970: 1.5) as NSDate
                    ),
                ]),
                #"[{"comparator":"NOT_IN","fieldName":"size","fieldValue":{"value":[1.0,2.5],"type":"DOUBLE_LIST"}},{"comparator":"GREATER_THAN","systemFieldName":"createdTimestamp","fieldValue":{"value":1500,"type":"TIMESTAMP"}}]"#
            ),
            (
                NSPredicate(
                    format:
                        "distanceToLocation:fromLocation:(place, %@) < 20000 AND SELF CONTAINS 'x'",
                    CLLocation(latitude: 1, longitude: 2)
                ),
                #"[{"comparator":"NEAR","fieldName":"place","fieldValue":{"value":{"latitude":1.0,"longitude":2.0},"type":"LOCATION"},"distance":20000.0},{"comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"x","type":"STRING"}}]"#
            ),
            (
                NSPredicate(
                    format: "folder == %@ AND creatorUserRecordID == %@",
                    CKRecord.ID(recordName: "f", zoneID: CKRecordZone.ID(zoneName: "Notes")),
                    CKRecord.ID(recordName: "_b")
                ),
                #"[{"comparator":"EQUALS","fieldName":"folder","fieldValue":{"value":{"recordName":"f","action":"NONE"},"type":"REFERENCE"}},{"comparator":"EQUALS","systemFieldName":"createdUserRecordName","fieldValue":{"value":{"recordName":"_b","action":"NONE"},"type":"REFERENCE"}}]"#
            ),
            (
                NSPredicate(format: "ANY tags IN %@ AND NOT tags CONTAINS %@", ["a"], "b"),
                #"[{"comparator":"LIST_CONTAINS_ANY","fieldName":"tags","fieldValue":{"value":["a"],"type":"STRING_LIST"}},{"comparator":"NOT_LIST_CONTAINS","fieldName":"tags","fieldValue":{"value":"b","type":"STRING"}}]"#
            ),
        ]
    }

    @Test(
        "SUB-22: a predicate is sent as filters and read back equal", arguments: 0..<7)
    func predicates(row: Int) async throws {
        let (predicate, filters) = Self.predicates[row]
        let subscription = CKQuerySubscription(
            recordType: "Note",
            predicate: predicate,
            subscriptionID: "q",
            options: .firesOnRecordCreation
        )
        subscription.zoneID = CKRecordZone.ID(zoneName: "Notes")
        let wire =
            #"{"subscriptionID":"q","subscriptionType":"query","zoneID":{"zoneName":"Notes","#
            + #""zoneType":"REGULAR_CUSTOM_ZONE"},"query":{"recordType":"Note","filterBy":"#
            + filters + #"},"firesOn":["create"],"firesOnce":false}"#
        let transport = ScriptedTransport(answering: Answer.subscriptions(wire))
        let database = TestDevice(transport).database
        _ = try await database.save(subscription)
        #expect(
            transport.sent.map(\.body)
                == [#"{"operations":[{"operationType":"create","subscription":\#(wire)}]}"#]
        )
        #expect(try await database.subscription(for: "q") == subscription)
    }
}
