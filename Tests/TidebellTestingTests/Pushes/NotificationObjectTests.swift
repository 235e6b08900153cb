// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("The notification objects of real pushes", .finishesClouds)
struct NotificationObjectTests {
    @Test(
        "NOTIF-1, NOTIF-3, NOTIF-6: zone and database pushes are their subclasses with all their properties"
    )
    func zoneAndDatabase() async throws {
        let home = try await Household()
        try await home.subscribe(
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let first = try #require(try await home.phone.nextNotification())
        let zone = try #require(first as? CKRecordZoneNotification)
        #expect(zone.notificationType == .recordZone)
        #expect(zone.notificationID != nil)
        #expect(zone.containerIdentifier == "iCloud.org.example.feed")
        #expect(zone.subscriptionID == "zone")
        #expect(zone.isPruned == false)
        #expect(zone.databaseScope == .private)

        try await home.phone.privateDatabase.deleteSubscription(withID: "zone")
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("b"))
        let second = try #require(try await home.phone.nextNotification())
        let database = try #require(second as? CKDatabaseNotification)
        #expect(database.notificationType == .database)
        #expect(database.databaseScope == .private)
        #expect(database.subscriptionID == "all")
        #expect(database.notificationID != zone.notificationID)
    }

    @Test("NOTIF-4, NOTIF-5: a query push gives reason, record and the desired fields")
    func query() async throws {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        )
        subscription.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "body",
            title: "title",
            soundName: "default",
            desiredKeys: ["title", "count"],
            category: "feed"
        )
        try await home.phone.privateDatabase.save(subscription)
        let record = item("a", "hello")
        record["count"] = 3
        let saved = try await home.laptop.privateDatabase.save(record)
        try await home.laptop.privateDatabase.save(saved)
        try await home.laptop.privateDatabase.deleteRecord(withID: saved.recordID)
        let reasons: [CKQueryNotification.Reason] = [
            .recordCreated, .recordUpdated, .recordDeleted,
        ]
        for reason in reasons {
            let notification = try await home.phone.nextNotification() as? CKQueryNotification
            let query = try #require(notification)
            #expect(query.notificationType == .query)
            #expect(query.queryNotificationReason == reason)
            #expect(query.recordID?.recordName == "a")
            #expect(query.databaseScope == .private)
            #expect(query.recordFields?["title"] as? String == "hello")
            #expect(query.recordFields?["count"] as? Int == 3)
        }
    }

    @Test("NOTIF-10: the zone of a push equals the zone ID the app builds itself")
    func zoneIDsAreEqual() async throws {
        let home = try await Household()
        try await home.subscribe(
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let zone = try await home.phone.nextNotification() as? CKRecordZoneNotification
        #expect(zone?.recordZoneID == Household.feed)
    }

    @Test("NOTIF-9: notification IDs are equal for the same push and survive an archive")
    func notificationIDs() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a"))
        let push = try await home.phone.nextPush()
        let id = try #require(push.notification?.notificationID)
        #expect(push.notification?.notificationID == id)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: id,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKNotification.ID.self,
            from: archive
        )
        #expect(read == id)
    }
}
