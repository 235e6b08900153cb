// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("What fires a zone subscription", .finishesClouds)
struct ZoneSubscriptionTests {
    private let second = CKRecordZone.ID(zoneName: "Second")

    private func home(recordType: String? = nil) async throws -> Household {
        let home = try await Household()
        let subscription = CKRecordZoneSubscription(
            zoneID: Household.feed,
            subscriptionID: "feed"
        )
        subscription.recordType = recordType
        try await home.subscribe(subscription)
        return home
    }

    private func expectPush(on device: TestDevice) async throws {
        let notification = try await device.nextNotification()
        let zone = try #require(notification as? CKRecordZoneNotification)
        #expect(zone.subscriptionID == "feed")
        #expect(zone.recordZoneID == Household.feed)
        #expect(zone.databaseScope == .private)
    }

    @Test("SUB-53: any creation, change and deletion in its zone fires it")
    func anyChange() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "1"))
        try await expectPush(on: home.phone)
        record["title"] = "2"
        try await database.save(record)
        try await expectPush(on: home.phone)
        try await database.save(item("b", type: "Comment"))
        try await expectPush(on: home.phone)
        try await database.deleteRecord(withID: record.recordID)
        try await expectPush(on: home.phone)
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-53: changes in other zones do not fire it")
    func otherZones() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        try await database.save(CKRecordZone(zoneID: second))
        try await database.save(item("a", zone: second))
        try await database.save(item("a", zone: .default))
        try await database.deleteRecordZone(withID: second)
        try await home.phone.expectNoPushes()
    }

    @Test(
        "T-8, SUB-12, SUB-13, SUB-14: with a record type only that type fires it, its deletions too"
    )
    func recordTypeFilter() async throws {
        let home = try await home(recordType: "FeedItem")
        let database = home.laptop.privateDatabase
        try await database.save(item("comment", type: "Comment"))
        try await database.save(item("lower", type: "feeditem"))
        try await home.phone.expectNoPushes()
        let record = try await database.save(item("a", "1"))
        try await expectPush(on: home.phone)
        record["title"] = "2"
        try await database.save(record)
        try await expectPush(on: home.phone)
        try await database.deleteRecord(withID: itemID("comment"))
        try await home.phone.expectNoPushes()
        try await database.deleteRecord(withID: itemID("a"))
        try await expectPush(on: home.phone)
        // One matching record among others is enough.
        _ = try await database.modifyRecords(
            saving: [item("c", type: "Comment"), item("d")],
            deleting: [itemID("lower")]
        )
        try await expectPush(on: home.phone)
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-40: a subscription is active when its save returns")
    func activeAtOnce() async throws {
        let home = try await Household()
        for round in 0..<10 {
            let zoneID = CKRecordZone.ID(zoneName: "Zone\(round)")
            try await home.laptop.privateDatabase.save(CKRecordZone(zoneID: zoneID))
            try await home.subscribe(
                CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "s\(round)")
            )
            try await home.laptop.privateDatabase.save(item("a", zone: zoneID))
            #expect(try await home.phone.nextNotification()?.subscriptionID == "s\(round)")
        }
    }

    @Test("a deleted subscription fires no more")
    func deletedSubscription() async throws {
        let home = try await home()
        try await home.phone.privateDatabase.deleteSubscription(withID: "feed")
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
    }
}
