// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("As strict as Apple", .finishesClouds)
struct StrictnessTests {
    /// Saves a subscription, and returns the error.
    private func save(
        _ subscription: CKSubscription, _ info: CKSubscription.NotificationInfo?,
        on device: TestDevice
    ) async -> CKError? {
        subscription.notificationInfo = info
        return await ckError { try await device.privateDatabase.save(subscription) }
    }

    private static var keyed: CKSubscription.NotificationInfo {
        let info = CKSubscription.NotificationInfo.silent
        info.desiredKeys = ["title"]
        return info
    }

    @Test("what Apple refuses is refused in its words, with what to do and the source")
    func strict() async throws {
        let cloud = try await TestCloud(strictness: .apple)
        let phone = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone)
        try await phone.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        let all = CKDatabaseSubscription(subscriptionID: "all")
        let feed = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "feed")

        let noInfo = await save(all, nil, on: phone)
        #expect(noInfo?.code == .invalidArguments)
        #expect(
            noInfo?.localizedDescription.hasPrefix("the subscription has no notificationInfo; ")
                == true)
        for subscription in [all, feed] {
            let error = await save(subscription, Self.keyed, on: phone)
            #expect(error?.code == .invalidArguments)
            #expect(
                error?.localizedDescription
                    == "cannot add desiredKeys to this subscription type; "
                    + "only query subscriptions have desiredKeys "
                    + "(malhal.com, CKRecordZoneSubscription Notes)")
        }
        #expect(await save(all, .silent, on: phone) == nil)
        #expect(await save(feed, .silent, on: phone) == nil)

        #expect(
            await ckCode { _ = try await phone.container("iCloud.org.typo").userRecordID() }
                == .badContainer)
    }

    @Test("QUERY-14: a query that every record passes needs an index; one with a condition has it")
    func queries() async throws {
        let strictness = ServerStrictness.apple.withQueryableRecordNames(of: "Indexed")
            .withContainers("iCloud.org.example.other")
        let cloud = try await TestCloud(strictness: strictness)
        let phone = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone)
        let database = phone.privateDatabase
        for type in ["Note", "Indexed"] {
            try await database.save(item("a-\(type)", "x", type: type, zone: .default))
        }
        func query(_ type: String, _ predicate: NSPredicate) async -> CKError? {
            await ckError {
                _ = try await database.records(
                    matching: CKQuery(recordType: type, predicate: predicate))
            }
        }
        let refused = await query("Note", NSPredicate(value: true))
        #expect(refused?.code == .invalidArguments)
        #expect(
            refused?.localizedDescription.hasPrefix("Field 'recordName' is not marked queryable; ")
                == true)
        #expect(await query("Note", NSPredicate(format: "title = 'x'")) == nil)
        #expect(await query("Indexed", NSPredicate(value: true)) == nil)
        _ = try await phone.container("iCloud.org.example.other").userRecordID()
    }

    @Test("a lenient cloud takes all of it")
    func lenient() async throws {
        let home = try await Household()
        let all = CKDatabaseSubscription(subscriptionID: "all")
        let feed = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "feed")
        #expect(await save(all, nil, on: home.phone) == nil)
        #expect(await save(feed, Self.keyed, on: home.phone) == nil)
        _ = try await home.phone.container("iCloud.org.typo").userRecordID()
        try await home.phone.privateDatabase.save(item("a"))
        let (found, _) = try await home.phone.privateDatabase.records(
            matching: CKQuery(recordType: "FeedItem", predicate: NSPredicate(value: true)),
            inZoneWith: Household.feed)
        #expect(found.count == 1)
        try await home.cloud.settle()
        let notified = home.laptop.takePushes().compactMap { $0.notification?.subscriptionID }
        #expect(notified.sorted() == ["all", "feed"])
    }

    @Test(
        "SUB-70: a subscription of another kind does not take another's ID, until that is deleted")
    func otherKind() async throws {
        let home = try await Household()
        let feed = CKRecordZoneSubscription(zoneID: Household.feed, subscriptionID: "feed-changes")
        let all = CKDatabaseSubscription(subscriptionID: "feed-changes")
        #expect(await save(feed, .silent, on: home.phone) == nil)
        let error = await save(all, .silent, on: home.phone)
        #expect(error?.code == .invalidArguments)
        #expect(
            error?.localizedDescription
                == "subscription 'feed-changes' is a zone subscription, and its "
                + "kind cannot change; save the database subscription under another ID, or delete that "
                + "one first")
        let database = home.phone.privateDatabase
        #expect(try await database.allSubscriptions().map(\.subscriptionType) == [.recordZone])
        try await database.deleteSubscription(withID: "feed-changes")
        #expect(await save(all, .silent, on: home.phone) == nil)
        #expect(try await database.allSubscriptions().map(\.subscriptionType) == [.database])
    }
}
