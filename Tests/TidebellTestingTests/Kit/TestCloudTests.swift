// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing

@testable import TidebellTesting

@Suite("TestCloud", .hangs, .finishesClouds)
struct TestCloudTests {
    @Test("inside run, unchanged code works on that device, in the cloud's container by default")
    func run() async throws {
        let cloud = try await TestCloud(container: "iCloud.org.example.notes")
        let phone = try await cloud.device(user: "anna")
        let other = try await cloud.device(user: "ben")
        func appCode() async throws -> String? {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
            try await CKContainer.default().privateCloudDatabase.save(record)
            return CKContainer.default().containerIdentifier
        }
        #expect(try await phone.run { try await appCode() } == "iCloud.org.example.notes")
        let named = try await other.run {
            let container = CKContainer(identifier: "iCloud.org.example.notes")
            return try await container.privateCloudDatabase.records(for: [
                itemID("n", zone: .default)
            ])
        }
        #expect(named.values.first?.ckCode == .unknownItem)
        let read = try await phone.privateDatabase.record(for: itemID("n", zone: .default))
        #expect(read.recordType == "Note")
    }

    @Test("a dump shows everything that is stored, sorted, and nothing a test cannot know")
    func dump() async throws {
        let cloud = try await TestCloud(container: "iCloud.org.example.notes")
        #expect(try await cloud.dump() == "")
        let phone = try await cloud.device(user: "anna")
        let other = try await cloud.device(user: "ben")
        try await phone.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        let child = item("b", "child", type: "Comment")
        child.setParent(itemID("a"))
        _ = try await phone.privateDatabase.modifyRecords(
            saving: [item("a", "root"), child],
            deleting: []
        )
        let query = CKQuerySubscription(
            recordType: "News",
            predicate: NSPredicate(value: true),
            subscriptionID: "news",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion, .firesOnce]
        )
        try await other.publicDatabase.save(query)
        try await other.publicDatabase.save(item("n", "news", type: "News", zone: .default))
        #expect(
            try await cloud.dump() == """
                iCloud.org.example.notes development
                  public
                    zone _defaultZone
                      News n {"title":{"value":"news","type":"STRING"}}
                    subscription news of ben query type News on create+delete once
                  anna private
                    zone Feed
                      Comment b parent a {"title":{"value":"child","type":"STRING"}}
                      FeedItem a {"title":{"value":"root","type":"STRING"}}
                    zone _defaultZone
                """
        )
    }

    @Test("the same seed gives the same devices, users and notification IDs")
    func seeds() async throws {
        func run(seed: UInt64) async throws -> [String?] {
            let cloud = try await TestCloud(seed: seed)
            let phone = try await cloud.device(user: "anna")
            return [phone.deviceID, try await phone.userRecordName()]
        }
        let first = try await run(seed: 7)
        #expect(try await run(seed: 7) == first)
        #expect(try await run(seed: 8) != first)
    }

    @Test("two clouds know nothing of one another")
    func separateClouds() async throws {
        let one = try await TestCloud()
        let two = try await TestCloud()
        try await one.device(user: "anna").publicDatabase.save(item("a", zone: .default))
        let reader = try await two.device(user: "anna").publicDatabase
        #expect(
            await ckCode { _ = try await reader.record(for: itemID("a", zone: .default)) }
                == .unknownItem)
    }

    @Test("a device that is offline fails as without a network, and receives its pushes later")
    func offline() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        home.phone.goOffline()
        #expect(!home.phone.isOnline)
        let code = await ckCode { try await home.phone.privateDatabase.save(item("a")) }
        #expect(code == .networkUnavailable)
        try await home.laptop.privateDatabase.save(item("b"))
        try await home.cloud.settle()
        #expect(home.phone.pushes.isEmpty)
        try await home.phone.goOnline()
        #expect(try await home.phone.nextNotification()?.subscriptionID == "all")
        try await home.phone.privateDatabase.save(item("a"))
        #expect(try await home.laptop.nextNotification()?.subscriptionID == "all")
    }

    @Test("a device comes online although the clock moves past somebody who reports nothing")
    func onlineBehindSilentSleeper() async throws {
        let home = try await Household()
        let state = home.cloud.state
        home.phone.goOffline()
        await eventually { state.clock.nextReconnection(of: [home.phone.deviceID]) != nil }
        let moment = state.clock.now.advanced(by: .nanoseconds(1))
        let sleeper = Task { try await state.clock.sleep(until: moment) }
        await eventually { state.clock.deadlines.first == moment }
        try await home.phone.goOnline()
        try await sleeper.value
    }

    @Test(
        "while the cloud is stopped requests fail, and everything is there when it starts again",
        arguments: [false, true])
    func stopAndStart(sockets: Bool) async throws {
        let home = try await Household(sockets: sockets)
        try await home.phone.privateDatabase.save(item("a", "kept"))
        let before = try await home.cloud.dump()
        try await home.cloud.stop()
        let code = await ckCode { try await home.phone.privateDatabase.save(item("b")) }
        #expect(code == .networkUnavailable)
        await #expect(throws: TestCloudError.self) { try await home.cloud.settle() }
        await #expect(throws: TestCloudError.self) { try await home.cloud.stop() }
        try await home.cloud.start()
        await #expect(throws: TestCloudError.self) { try await home.cloud.start() }
        #expect(try await home.cloud.dump() == before)
    }

    @Test("a push that does not come fails with what the cloud holds instead of hanging")
    func missingPush() async throws {
        let cloud = try await TestCloud(safetyLimit: .milliseconds(200))
        let phone = try await cloud.device(user: "anna")
        try await phone.registerForRemoteNotifications()
        try await phone.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        let error = await #expect(throws: TestCloudError.self) { try await phone.nextPush() }
        let text = error?.description ?? ""
        #expect(text.contains("no push reached the device \(phone.deviceID) of anna"))
        #expect(text.contains("zone Feed"))
        #expect(text.contains("anna has no subscription in iCloud.org.example.app."))
        #expect(!text.contains("not registered"))

        let laptop = try await cloud.device(user: "anna")
        let unregistered = await #expect(throws: TestCloudError.self) {
            try await laptop.nextPush()
        }
        #expect(
            unregistered?.description.contains(
                "It is not registered for pushes: call registerForRemoteNotifications() on it.")
                == true)
    }

    @Test("expectNoPushes names the pushes that came")
    func unexpectedPush() async throws {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        try await home.laptop.privateDatabase.save(item("a"))
        let error = await #expect(throws: TestCloudError.self) {
            try await home.phone.expectNoPushes()
        }
        #expect(error?.description.contains(#""sid":"all""#) == true)
        #expect(home.phone.takePushes().count == 1)
        try await home.phone.expectNoPushes()
        #expect(home.phone.pushes.count == 1)
    }

    @Test("waiting for a push ends when the task is cancelled")
    func cancelledWait() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        try await phone.registerForRemoteNotifications()
        let wait = Task { try await phone.nextPush() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { _ = try await wait.value }
    }

    @Test("the database goes away with the cloud and its devices")
    func cleanUp() async throws {
        func use() async throws -> String {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            try await phone.registerForRemoteNotifications()
            try await phone.privateDatabase.save(item("a", zone: .default))
            try await cloud.settle()
            let folder = cloud.assetFolder.deletingLastPathComponent().path
            #expect(FileManager.default.fileExists(atPath: folder))
            return folder
        }
        let folder = try await use()
        await eventually { !FileManager.default.fileExists(atPath: folder) }
    }
}
