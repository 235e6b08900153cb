// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("What fires a database subscription", .finishesClouds)
struct DatabaseSubscriptionTests {
    private let second = CKRecordZone.ID(zoneName: "Second")

    private func home(recordType: String? = nil) async throws -> Household {
        let home = try await Household()
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        subscription.recordType = recordType
        try await home.subscribe(subscription)
        return home
    }

    /// The zone a database push names, which only the payload shows.
    private func zoneName(of push: ReceivedPush) -> String? {
        ((push.userInfo["ck"] as? [String: Any])?["met"] as? [String: Any])?["zid"] as? String
    }

    @Test(
        "T-7, SUB-54, SUB-55: creating, changing and deleting records of a custom zone fires, naming the zone"
    )
    func recordsOfACustomZone() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "1"))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Feed")
        record["title"] = "2"
        try await database.save(record)
        #expect(zoneName(of: try await home.phone.nextPush()) == "Feed")
        try await database.deleteRecord(withID: record.recordID)
        #expect(zoneName(of: try await home.phone.nextPush()) == "Feed")
        try await home.phone.expectNoPushes()
    }

    @Test("T-7, SUB-7: the default zone never fires it, old and new custom zones do")
    func defaultZoneIsSilent() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        try await database.save(item("a", zone: .default))
        try await database.deleteRecord(withID: itemID("a", zone: .default))
        try await home.phone.expectNoPushes()
        try await database.save(CKRecordZone(zoneID: second))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Second")
        try await database.save(item("b", zone: second))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Second")
        try await home.phone.expectNoPushes()
    }

    @Test("T-7, SUB-54: a deleted zone fires it; saving a zone that exists does not")
    func zoneEvents() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        try await database.save(CKRecordZone(zoneID: Household.feed))
        try await home.phone.expectNoPushes()
        try await database.deleteRecordZone(withID: Household.feed)
        let push = try await home.phone.nextPush()
        #expect(push.notification is CKDatabaseNotification)
        #expect(zoneName(of: push) == "Feed")
    }

    @Test("SUB-13: with a record type only that type's records fire it, but every zone event does")
    func recordTypeFilter() async throws {
        let home = try await home(recordType: "FeedItem")
        let database = home.laptop.privateDatabase
        try await database.save(item("a", type: "Comment"))
        try await database.save(item("b", type: "feedItem"))
        try await database.deleteRecord(withID: itemID("a"))
        try await home.phone.expectNoPushes()
        try await database.save(item("c"))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Feed")
        try await database.save(CKRecordZone(zoneID: second))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Second")
        try await database.deleteRecordZone(withID: second)
        #expect(zoneName(of: try await home.phone.nextPush()) == "Second")
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-62: a batch fires it once for each zone, however many records it changes")
    func oncePerBatchAndZone() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        try await database.save(CKRecordZone(zoneID: second))
        _ = try await home.phone.nextPush()
        _ = try await database.modifyRecords(
            saving: (0..<20).map { item("r\($0)", zone: Household.feed) }
                + (0..<20).map { item("r\($0)", zone: second) },
            deleting: []
        )
        try await home.cloud.settle()
        let zones = home.phone.takePushes().compactMap(zoneName)
        // Delivered at once, the two may be merged into the newest (PUSH-2), never more.
        #expect((1...2).contains(zones.count))
        #expect(Set(zones).isSubset(of: ["Feed", "Second"]))
    }

    @Test("SUB-60: records deleted through a reference fire it like any other deletion")
    func cascadedDeletions() async throws {
        let home = try await home(recordType: "Comment")
        let database = home.laptop.privateDatabase
        let comment = item("comment", type: "Comment")
        comment["item"] = CKRecord.Reference(recordID: itemID("a"), action: .deleteSelf)
        try await database.save(item("a"))
        try await home.phone.expectNoPushes()
        try await database.save(comment)
        _ = try await home.phone.nextPush()
        try await database.deleteRecord(withID: itemID("a"))
        #expect(zoneName(of: try await home.phone.nextPush()) == "Feed")
        #expect(
            await ckCode { _ = try await database.record(for: comment.recordID) } == .unknownItem)
    }

    @Test("SUB-63: a save that changes nothing is an update all the same")
    func emptyUpdate() async throws {
        let home = try await home()
        let database = home.laptop.privateDatabase
        let record = try await database.save(item("a", "same"))
        _ = try await home.phone.nextPush()
        let before = record.recordChangeTag
        let again = try await database.save(record)
        #expect(again.recordChangeTag != before)
        _ = try await home.phone.nextPush()
    }

    @Test("SUB-65: deleting a zone ends its zone subscriptions and leaves database subscriptions")
    func zoneDeletionEndsZoneSubscriptions() async throws {
        let home = try await home()
        try await home.subscribe(
            CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "zone")
        )
        let query = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query"
        )
        query.zoneID = Household.feed
        try await home.subscribe(query)
        try await home.laptop.privateDatabase.deleteRecordZone(withID: Household.feed)
        let ids = try await home.phone.privateDatabase.allSubscriptions().map(\.subscriptionID)
        #expect(ids == ["all"])
        let received = try await [home.phone.nextPush(), home.phone.nextPush()]
            .compactMap { $0.notification?.subscriptionID }
        #expect(received.sorted() == ["all", "zone"])
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-61: the public database fires query subscriptions only")
    func publicDatabase() async throws {
        let home = try await home()
        try await home.laptop.publicDatabase.save(item("a", zone: .default))
        try await home.phone.expectNoPushes()
    }
}
