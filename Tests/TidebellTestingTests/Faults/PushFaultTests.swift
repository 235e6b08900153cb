// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

@testable import TidebellTesting

@Suite("Faults of pushes", .finishesClouds)
struct PushFaultTests {
    /// A household whose phone hears of records that are made, and of zones.
    private static func home(sockets: Bool = false) async throws -> Household {
        let home = try await Household(sockets: sockets)
        let subscription = CKQuerySubscription(
            recordType: "FeedItem", predicate: NSPredicate(value: true),
            subscriptionID: "items", options: .firesOnRecordCreation
        )
        let info = CKSubscription.NotificationInfo.silent
        info.desiredKeys = ["title"]
        subscription.notificationInfo = info
        try await home.laptop.privateDatabase.save(item("seed", "s"))
        try await home.phone.privateDatabase.save(subscription)
        return home
    }

    /// The same, when the push of the record `a` has met a fault that has it come 20 s late.
    private static func homeWithLatePush() async throws -> Household {
        let home = try await home()
        home.phone.inject(push: .late(by: .seconds(20)), of: "items")
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.cloud.settle()
        return home
    }

    @Test(
        "a lost push never comes, not even on a new connection; those behind it do",
        arguments: [false, true])
    func lost(sockets: Bool) async throws {
        let home = try await Self.home(sockets: sockets)
        home.phone.inject(push: .lost)
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
        home.phone.goOffline()
        try await home.phone.goOnline()
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("b"))
        let push = try await home.phone.nextPush()
        #expect((push.notification as? CKQueryNotification)?.recordID == itemID("b"))
    }

    @Test("a late push comes when the clock is there, behind those that were sent after it")
    func late() async throws {
        let home = try await Self.homeWithLatePush()
        try await home.laptop.privateDatabase.save(item("b"))
        try await home.cloud.settle()
        let first = home.phone.takePushes().map {
            ($0.notification as? CKQueryNotification)?.recordID
        }
        #expect(first == [itemID("b")])
        await home.cloud.clock.advance(by: .seconds(19))
        try await home.phone.expectNoPushes()
        await home.cloud.clock.advance(by: .seconds(1))
        let push = try await home.phone.nextPush()
        #expect((push.notification as? CKQueryNotification)?.recordID == itemID("a"))
    }

    @Test("a late push waits until its device connects again, and time passes until then")
    func lateWhileStopped() async throws {
        let home = try await Self.homeWithLatePush()
        try await home.cloud.stop()
        await home.cloud.clock.advance(by: .seconds(7200))
        // Not the cloud's own start, which has its devices connect.
        try await home.cloud.state.start()
        let push = try await home.cloud.passingTime { try await home.phone.nextPush() }
        #expect((push.notification as? CKQueryNotification)?.recordID == itemID("a"))
        try await home.phone.expectNoPushes()
    }

    @Test("a late push does not come to a device that ended its registration, and registered again")
    func lateOfEndedRegistration() async throws {
        let home = try await Self.homeWithLatePush()
        home.phone.unregisterForRemoteNotifications()
        try await home.phone.registerForRemoteNotifications()
        await home.cloud.clock.advance(by: .seconds(20))
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("b"))
        let push = try await home.phone.nextPush()
        #expect((push.notification as? CKQueryNotification)?.recordID == itemID("b"))
        try await home.phone.expectNoPushes()
    }

    @Test("a push that comes twice has one notification ID, and the next comes once")
    func doubled() async throws {
        let home = try await Self.home()
        home.phone.inject(push: .doubled)
        try await home.laptop.privateDatabase.save(item("a"))
        let pushes = [try await home.phone.nextPush(), try await home.phone.nextPush()]
        #expect(pushes[0].json == pushes[1].json)
        try await home.laptop.privateDatabase.save(item("b"))
        _ = try await home.phone.nextPush()
        try await home.phone.expectNoPushes()
    }

    @Test("PRUNE-2: a pruned push has no record, no reason and no fields; the log has them")
    func pruned() async throws {
        let home = try await Self.home()
        home.phone.inject(push: .pruned)
        try await home.laptop.privateDatabase.save(item("a", "hello"))
        let push = try await home.phone.nextPush()
        let notification = try #require(push.notification as? CKQueryNotification)
        #expect(notification.isPruned && notification.recordID == nil)
        #expect(notification.recordFields == nil && notification.subscriptionID == "items")
        #expect(push.json.contains(#""content-available":1"#))
    }

    @Test("a fault of one subscription's pushes leaves those of others")
    func ofSubscription() async throws {
        let home = try await Self.home()
        home.phone.inject(push: .lost, of: "zones")
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "zones"))
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.cloud.settle()
        #expect(home.phone.takePushes().map { $0.notification?.subscriptionID } == ["items"])
    }
}

@Suite("Accounts that are refused", .finishesClouds)
struct AccountStatusTests {
    @Test("ACCT-1, ACCT-4: a status is set for one device, and ends")
    func set() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let laptop = try await cloud.device(user: "anna")
        FinishedClouds.add(cloud, phone, laptop)
        let container = phone.container()
        #expect(try await container.accountStatus() == .available)

        try await phone.setAccountStatus(.restricted)
        #expect(try await container.accountStatus() == .restricted)
        #expect(
            await ckCode { _ = try await phone.privateDatabase.allRecordZones() }
                == .notAuthenticated)
        #expect(try await laptop.container().accountStatus() == .available)
        #expect(
            try await cloud.dump().hasSuffix(
                "faults to come\n  account status restricted, "
                    + "on the device \(phone.deviceID) of anna"))

        try await phone.setAccountStatus(.temporarilyUnavailable)
        #expect(try await container.accountStatus() == .temporarilyUnavailable)
        #expect(
            await ckCode { try await phone.privateDatabase.save(CKRecord(recordType: "Note")) }
                == .accountTemporarilyUnavailable)

        try await phone.setAccountStatus(.couldNotDetermine)
        #expect(await ckCode { _ = try await container.accountStatus() } == .internalError)
        try await phone.privateDatabase.save(CKRecord(recordType: "Note"))

        try await phone.setAccountStatus(.available)
        #expect(try await container.accountStatus() == .available)
        try await phone.setAccountStatus(.noAccount)
        #expect(try await container.accountStatus() == .noAccount)
        await #expect(throws: TestCloudError.self) { try await phone.setAccountStatus(.available) }
    }
}
