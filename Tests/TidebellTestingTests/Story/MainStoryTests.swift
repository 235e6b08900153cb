// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// What CloudKit is for: a change on one device becomes known on the user's
/// others, and nowhere else, and each fetches just what changed.
@Suite("The main story", .finishesClouds)
struct MainStoryTests {
    @Test(
        "T-1, PUSH-1: what the laptop saves, changes and deletes reaches the phone, nobody else",
        arguments: [false, true])
    func story(sockets: Bool) async throws {
        let home = try await Household(sockets: sockets)
        let (cloud, phone, laptop, other) = (home.cloud, home.phone, home.laptop, home.other)
        try await subscribe(phone)
        try await subscribe(other)
        let copy = LocalCopy()
        try await copy.fetchChanges(from: phone.privateDatabase)
        await copy.forgetNews()

        // The laptop saves two items in one batch: one push of each subscription.
        let database = laptop.privateDatabase
        _ = try await database.modifyRecords(
            saving: [item("one", "first"), item("two", "second")],
            deleting: []
        )
        try await expectPushes(on: phone)
        try await copy.fetchChanges(from: phone.privateDatabase)
        #expect(await copy.titles == ["Feed/one": "first", "Feed/two": "second"])
        #expect(await copy.news == ["zone Feed", "one = first", "two = second"])

        // It changes one and deletes the other.
        let one = try await database.record(for: itemID("one"))
        one["title"] = "changed"
        try await database.save(one)
        try await expectPushes(on: phone)
        try await database.deleteRecord(withID: itemID("two"))
        try await expectPushes(on: phone)
        await copy.forgetNews()
        try await copy.fetchChanges(from: phone.privateDatabase)
        #expect(await copy.titles == ["Feed/one": "changed"])
        #expect(await copy.news == ["zone Feed", "one = changed", "two deleted (FeedItem)"])

        // The origin and the stranger received nothing.
        try await laptop.expectNoPushes()
        try await other.expectNoPushes()

        // After a restart everybody is still there, and nothing comes twice.
        try await cloud.restart()
        try await cloud.settle()
        #expect(phone.pendingPushes.isEmpty)
        await copy.forgetNews()
        try await copy.fetchChanges(from: phone.privateDatabase)
        #expect(await copy.news == [])
        try await database.save(item("three", "third"))
        try await expectPushes(on: phone)
        try await copy.fetchChanges(from: phone.privateDatabase)
        #expect(await copy.news == ["zone Feed", "three = third"])
        #expect(await copy.titles == ["Feed/one": "changed", "Feed/three": "third"])
        try await laptop.expectNoPushes()
        try await other.expectNoPushes()
        #expect(try await cloud.dump() == Self.finalState)
    }

    @Test("T-1: one, several and hundreds of records arrive", arguments: [1, 5, 400, 900])
    func manyRecords(count: Int) async throws {
        let home = try await Household()
        for start in stride(from: 0, to: count, by: 400) {
            let records = (start..<min(count, start + 400)).map { item("r\($0)", "t\($0)") }
            _ = try await home.laptop.privateDatabase.modifyRecords(saving: records, deleting: [])
        }
        let copy = LocalCopy()
        try await copy.fetchChanges(from: home.phone.privateDatabase)
        let expected = (0..<count).map { ("Feed/r\($0)", "t\($0)") }
        #expect(await copy.titles == Dictionary(uniqueKeysWithValues: expected))
    }

    @Test("T-2: a rename on one device arrives on the other, and the answer comes back")
    func thereAndBack() async throws {
        let home = try await Household()
        let devices = [home.laptop.privateDatabase, home.phone.privateDatabase]
        let copies = [LocalCopy(), LocalCopy()]
        try await devices[0].save(item("a", "0"))
        for round in 1...4 {
            let writer = devices[round % 2]
            let record = try await writer.record(for: itemID("a"))
            record["title"] = "\(round)"
            try await writer.save(record)
            for (copy, device) in zip(copies, devices) {
                try await copy.fetchChanges(from: device)
                #expect(await copy.titles == ["Feed/a": "\(round)"])
            }
        }
    }

    /// The whole cloud at the end of the story.
    private static let finalState = """
        iCloud.org.example.feed development
          anna private
            zone Feed
              FeedItem one {"title":{"value":"changed","type":"STRING"}}
              FeedItem three {"title":{"value":"third","type":"STRING"}}
            zone _defaultZone
            subscription all-changes database
            subscription feed-changes zone zone Feed type FeedItem
          ben private
            zone Feed
            zone _defaultZone
            subscription all-changes database
            subscription feed-changes zone zone Feed type FeedItem
        """

    /// Saves what an app saves at its first launch, with an operation.
    private func subscribe(_ device: TestDevice) async throws {
        let database = CKDatabaseSubscription(subscriptionID: "all-changes")
        database.notificationInfo = .silent
        let zone = CKRecordZoneSubscription(
            zoneID: Household.feed,
            subscriptionID: "feed-changes"
        )
        zone.recordType = "FeedItem"
        zone.notificationInfo = .silent
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [database, zone],
            subscriptionIDsToDelete: nil
        )
        try await withCheckedThrowingContinuation { continuation in
            operation.modifySubscriptionsResultBlock = { continuation.resume(with: $0) }
            device.privateDatabase.add(operation)
        }
    }

    /// Takes one push of each of the two subscriptions.
    private func expectPushes(on device: TestDevice) async throws {
        var kinds: Set<String> = []
        for _ in 0..<2 {
            let notification = try #require(try await device.nextNotification())
            switch notification {
            case let zone as CKRecordZoneNotification:
                #expect(zone.subscriptionID == "feed-changes")
                #expect(zone.recordZoneID?.zoneName == "Feed")
                kinds.insert("zone")
            case let database as CKDatabaseNotification:
                #expect(database.subscriptionID == "all-changes")
                #expect(database.databaseScope == .private)
                kinds.insert("database")
            default: Issue.record("\(notification) is of no kind the phone subscribed to")
            }
        }
        #expect(kinds == ["zone", "database"])
    }
}
