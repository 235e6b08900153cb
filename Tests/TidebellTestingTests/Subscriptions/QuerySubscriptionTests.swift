// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("What fires a query subscription", .finishesClouds)
struct QuerySubscriptionTests {
    private func subscribe(
        _ home: Household,
        _ options: CKQuerySubscription.Options,
        zone: CKRecordZone.ID? = nil,
        in scope: CKDatabase.Scope = .private
    ) async throws {
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query",
            options: options
        )
        subscription.zoneID = zone
        try await home.subscribe(subscription, in: scope)
    }

    /// What the next push contains: the reason and the record.
    private func next(_ device: TestDevice) async throws -> String {
        let notification = try await device.nextNotification() as? CKQueryNotification
        let query = try #require(notification)
        #expect(query.subscriptionID == "query")
        return "\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "-")"
    }

    /// Creates, changes and deletes one record.
    private func liveAndDie(_ name: String, on device: TestDevice) async throws {
        let record = try await device.privateDatabase.save(item(name, "1"))
        record["title"] = "2"
        try await device.privateDatabase.save(record)
        try await device.privateDatabase.deleteRecord(withID: record.recordID)
    }

    @Test(
        "T-9, SUB-17, SUB-23: each event alone fires for just that event",
        arguments: [(1, "1 a"), (2, "2 a"), (4, "3 a")])
    func oneEvent(bit: Int, expected: String) async throws {
        let home = try await Household()
        try await subscribe(home, CKQuerySubscription.Options(rawValue: UInt(bit)))
        try await liveAndDie("a", on: home.laptop)
        #expect(try await next(home.phone) == expected)
        try await home.phone.expectNoPushes()
    }

    @Test("T-9, SUB-23, SUB-62: all events fire, once for each record, in the order of the changes")
    func everyRecord() async throws {
        let home = try await Household()
        try await subscribe(
            home,
            [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        )
        try await liveAndDie("a", on: home.laptop)
        _ = try await home.laptop.privateDatabase.modifyRecords(
            saving: [item("b"), item("x", type: "Comment"), item("c")],
            deleting: []
        )
        try await home.cloud.settle()
        let received = try home.phone.takePushes().map { push in
            let query = try #require(push.notification as? CKQueryNotification)
            return "\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "-")"
        }
        #expect(received == ["1 a", "2 a", "3 a", "1 b", "1 c"])
    }

    @Test(
        "SUB-9: without a zone it spans all zones with the default one; with a zone just that one")
    func zones() async throws {
        let home = try await Household()
        try await subscribe(home, .firesOnRecordCreation)
        try await home.laptop.privateDatabase.save(item("custom"))
        #expect(try await next(home.phone) == "1 custom")
        try await home.laptop.privateDatabase.save(item("default", zone: .default))
        #expect(try await next(home.phone) == "1 default")

        try await subscribe(home, .firesOnRecordCreation, zone: Household.feed)
        try await home.laptop.privateDatabase.save(item("default-2", zone: .default))
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("custom-2"))
        #expect(try await next(home.phone) == "1 custom-2")
    }

    @Test(
        "T-9, SUB-19, SUB-20: firesOnce notifies every device of one event, then the subscription is gone"
    )
    func firesOnce() async throws {
        let home = try await Household()
        let tablet = try await home.cloud.device(user: "anna")
        try await tablet.registerForRemoteNotifications()
        try await subscribe(home, [.firesOnRecordCreation, .firesOnce])
        _ = try await home.laptop.privateDatabase.modifyRecords(
            saving: [item("a"), item("b")],
            deleting: []
        )
        #expect(try await next(home.phone) == "1 a")
        #expect(try await next(tablet) == "1 a")
        #expect(try await home.phone.privateDatabase.allSubscriptions() == [])
        try await home.laptop.privateDatabase.save(item("c"))
        try await home.phone.expectNoPushes()
        #expect(tablet.pendingPushes.isEmpty)
        // To be notified again the app saves a new one.
        try await subscribe(home, [.firesOnRecordCreation, .firesOnce])
        try await home.laptop.privateDatabase.save(item("d"))
        #expect(try await next(home.phone) == "1 d")
    }

    @Test("SUB-20: firesOnce is not used up by an event that no device is notified of")
    func firesOnceIsNotWasted() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        try await phone.registerForRemoteNotifications()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query",
            options: [.firesOnRecordCreation, .firesOnce]
        )
        try await phone.privateDatabase.save(subscription)
        try await phone.privateDatabase.save(item("own", zone: .default))
        try await phone.expectNoPushes()
        #expect(try await phone.privateDatabase.allSubscriptions().count == 1)
        let laptop = try await cloud.device(user: "anna")
        try await laptop.privateDatabase.save(item("foreign", zone: .default))
        #expect(try await next(phone) == "1 foreign")
        #expect(try await phone.privateDatabase.allSubscriptions() == [])
    }

    @Test(
        "SUB-4, SUB-61: in the public database any user's record fires it, reported in the database's name"
    )
    func publicDatabase() async throws {
        let home = try await Household()
        try await subscribe(home, .firesOnRecordCreation, in: .public)
        try await home.other.publicDatabase.save(item("ben", zone: .default))
        let notification = try await home.phone.nextNotification() as? CKQueryNotification
        #expect(notification?.databaseScope == .public)
        #expect(notification?.recordID?.recordName == "ben")
        try await home.other.expectNoPushes()
        #expect(home.laptop.takePushes().count == 1)
    }
}
