// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

@Suite struct CKSubscriptionTests {
    private let all = NSPredicate(value: true)

    private func query(
        _ id: String = "q",
        predicate: NSPredicate = NSPredicate(value: true),
        options: CKQuerySubscription.Options = .firesOnRecordCreation
    ) -> CKQuerySubscription {
        CKQuerySubscription(
            recordType: "Item",
            predicate: predicate,
            subscriptionID: id,
            options: options
        )
    }

    @Test("SUB-1: three kinds with the raw values 1, 2 and 3")
    func kinds() {
        let zone = CKRecordZoneSubscription(
            zoneID: CKRecordZone.ID(zoneName: "Z"),
            subscriptionID: "z"
        )
        let subscriptions: [CKSubscription] = [
            query(), zone, CKDatabaseSubscription(subscriptionID: "d"),
        ]
        #expect(subscriptions.map(\.subscriptionType.rawValue) == [1, 2, 3])
        #expect(subscriptions.map(\.subscriptionType) == [.query, .recordZone, .database])
        #expect(subscriptions.map(\.subscriptionID) == ["q", "z", "d"])
    }

    @Test("SUB-15: the record type of zone and database subscriptions can be set and cleared")
    func recordType() {
        let database = CKDatabaseSubscription(subscriptionID: "d")
        #expect(database.recordType == nil)
        database.recordType = "Item"
        #expect(database.recordType == "Item")
        let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
        zone.recordType = "Item"
        zone.recordType = nil
        #expect(zone.recordType == nil)
    }

    @Test("SUB-16: type, predicate and options of a query subscription are what it was made with")
    func queryParts() {
        let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [all, all])
        let subscription = query(predicate: predicate, options: [.firesOnRecordUpdate, .firesOnce])
        #expect(subscription.recordType == "Item")
        #expect(subscription.predicate === predicate)
        #expect(subscription.querySubscriptionOptions == [.firesOnRecordUpdate, .firesOnce])
        #expect(subscription.zoneID == nil)
    }

    @Test("SUB-16: an empty record type ends the program")
    func emptyRecordType() async {
        await #expect(processExitsWith: .failure) {
            _ = CKQuerySubscription(
                recordType: "",
                predicate: NSPredicate(value: true),
                subscriptionID: "s"
            )
        }
    }

    @Test("SUB-17: the options are bits")
    func optionBits() {
        #expect(CKQuerySubscription.Options.firesOnRecordCreation.rawValue == 1)
        #expect(CKQuerySubscription.Options.firesOnRecordUpdate.rawValue == 2)
        #expect(CKQuerySubscription.Options.firesOnRecordDeletion.rawValue == 4)
        #expect(CKQuerySubscription.Options.firesOnce.rawValue == 8)
    }

    @Test("SUB-18: firesOnce alone ends the program")
    func firesOnceAlone() async {
        await #expect(processExitsWith: .failure) {
            _ = CKQuerySubscription(
                recordType: "Item",
                predicate: NSPredicate(value: true),
                subscriptionID: "s",
                options: .firesOnce
            )
        }
    }

    @Test("SUB-18: no options at all end the program")
    func noOptions() async {
        await #expect(processExitsWith: .failure) {
            _ = CKQuerySubscription(
                recordType: "Item",
                predicate: NSPredicate(value: true),
                subscriptionID: "s",
                options: []
            )
        }
    }

    @Test(
        "SUB-21: a query subscription fires on creation, update and deletion by default"
    )
    func defaultOptions() {
        let subscription = CKQuerySubscription(
            recordType: "Item",
            predicate: all,
            subscriptionID: "s"
        )
        #expect(
            subscription.querySubscriptionOptions == [
                .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
            ]
        )
    }

    @Test("SUB-21, SUB-28: an ID not given is a fresh UUID")
    @available(*, deprecated)
    func freshIDs() {
        let ids = [
            CKQuerySubscription(recordType: "Item", predicate: all).subscriptionID,
            CKQuerySubscription(recordType: "Item", predicate: all, options: .firesOnRecordUpdate)
                .subscriptionID,
            CKRecordZoneSubscription(zoneID: .default).subscriptionID,
            CKDatabaseSubscription().subscriptionID,
        ]
        #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
        #expect(Set(ids).count == ids.count)
    }

    @Test("SUB-28: an empty ID ends the program")
    func emptyID() async {
        await #expect(processExitsWith: .failure) { _ = CKDatabaseSubscription(subscriptionID: "") }
        await #expect(processExitsWith: .failure) {
            _ = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "")
        }
    }

    @Test("SUB-70: notificationInfo can be set, and keeps a copy")
    func notificationInfo() {
        let subscription = CKDatabaseSubscription(subscriptionID: "d")
        #expect(subscription.notificationInfo == nil)
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        info.shouldSendContentAvailable = false
        #expect(subscription.notificationInfo?.shouldSendContentAvailable == true)
        subscription.notificationInfo?.alertBody = "later"
        #expect(subscription.notificationInfo?.alertBody == "later")
    }

    @Test("SUB-70: the zone of a query subscription can be set")
    func zoneOfQuery() {
        let subscription = query()
        subscription.zoneID = CKRecordZone.ID(zoneName: "Z")
        #expect(subscription.zoneID == CKRecordZone.ID(zoneName: "Z"))
    }

    @Test("subscriptions compare by value, each kind by its own parts")
    func equality() {
        #expect(query() == query())
        #expect(query("a") != query("b"))
        #expect(query() != query(predicate: NSPredicate(value: false)))
        #expect(query() != query(options: .firesOnRecordUpdate))
        #expect(query().hash == query().hash)
        let database = CKDatabaseSubscription(subscriptionID: "q")
        #expect(database != query())
        #expect(database == CKDatabaseSubscription(subscriptionID: "q"))
        database.recordType = "Item"
        #expect(database != CKDatabaseSubscription(subscriptionID: "q"))
        let info = CKSubscription.NotificationInfo(alertBody: "a")
        database.recordType = nil
        database.notificationInfo = info
        #expect(database != CKDatabaseSubscription(subscriptionID: "q"))
        let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
        let other = CKRecordZone.ID(zoneName: "Z")
        #expect(zone != CKRecordZoneSubscription(zoneID: other, subscriptionID: "z"))
    }

    @Test("a copy is equal and lives its own life")
    func copy() throws {
        let subscription = query()
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "a")
        let copy = try #require(subscription.copy() as? CKQuerySubscription)
        #expect(copy == subscription)
        #expect(copy.predicate === subscription.predicate)
        copy.notificationInfo?.alertBody = "b"
        #expect(subscription.notificationInfo?.alertBody == "a")
    }

    @Test("NINFO-1: everything is nil or false unless set")
    func infoDefaults() {
        let info = CKSubscription.NotificationInfo()
        #expect(info.alertBody == nil)
        #expect(info.alertLocalizationArgs == nil)
        #expect(info.desiredKeys == nil)
        #expect(info.category == nil)
        #expect(info.collapseIDKey == nil)
        #expect(!info.shouldBadge)
        #expect(!info.shouldSendContentAvailable)
        #expect(!info.shouldSendMutableContent)
    }

    @Test("NINFO-1: every part of the memberwise initializer has a default")
    func infoMemberwise() {
        let info = CKSubscription.NotificationInfo(
            alertLocalizationKey: "key",
            titleLocalizationArgs: ["name"],
            soundName: "default",
            shouldBadge: true
        )
        #expect(info.alertLocalizationKey == "key")
        #expect(info.titleLocalizationArgs == ["name"])
        #expect(info.soundName == "default")
        #expect(info.shouldBadge)
        #expect(info.alertBody == nil)
        #expect(info.desiredKeys == [])
        #expect(info != CKSubscription.NotificationInfo())
        #expect(info == info.copy() as? CKSubscription.NotificationInfo)
    }

    @Test("NINFO-1: a list that is empty equals one that is nil, as the server gives it back")
    func emptyLists() {
        let made = CKSubscription.NotificationInfo(alertBody: "hi", desiredKeys: ["n"])
        let fetched = CKSubscription.NotificationInfo()
        (fetched.alertBody, fetched.desiredKeys) = ("hi", ["n"])
        #expect(made == fetched)
        fetched.titleLocalizationArgs = ["n"]
        #expect(made != fetched)
    }
}
