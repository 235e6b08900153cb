// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Who receives a push", .finishesClouds)
struct ReceiverTests {
    private func home() async throws -> Household {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        return home
    }

    @Test("T-10, SUB-46: every device of the user but the one that made the change")
    func everyDeviceButTheOrigin() async throws {
        let home = try await home()
        let tablet = try await home.cloud.device(user: "anna")
        try await tablet.registerForRemoteNotifications()
        let devices = [home.phone, home.laptop, tablet]
        for origin in devices {
            try await origin.privateDatabase.save(item("from-\(origin.deviceID)"))
            try await home.cloud.settle()
            for device in devices {
                #expect(device.takePushes().count == (device === origin ? 0 : 1))
            }
        }
        try await home.other.expectNoPushes()
    }

    @Test("SUB-46: a device that subscribed itself is still the origin of its own changes")
    func subscriberIsOrigin() async throws {
        let home = try await home()
        try await home.phone.privateDatabase.save(item("own"))
        #expect(try await home.laptop.nextNotification()?.subscriptionID == "all")
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-47: a device that deletes what it did not create is not notified of it")
    func deleterIsOrigin() async throws {
        let home = try await home()
        try await home.laptop.privateDatabase.save(item("a"))
        _ = try await home.phone.nextPush()
        try await home.phone.privateDatabase.deleteRecord(withID: itemID("a"))
        _ = try await home.laptop.nextPush()
        try await home.phone.expectNoPushes()
    }

    @Test(
        "SUB-48, SUB-49: a device that did not register receives nothing but is an origin like any")
    func unregisteredDevice() async throws {
        let home = try await home()
        let simulator = try await home.cloud.device(user: "anna")
        try await simulator.privateDatabase.save(item("a"))
        for device in [home.phone, home.laptop] {
            #expect(try await device.nextNotification()?.subscriptionID == "all")
        }
        try await home.cloud.settle()
        #expect(simulator.pushes.isEmpty)
        // Registering later does not bring what was delivered before.
        try await simulator.registerForRemoteNotifications()
        try await simulator.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("b"))
        for device in [simulator, home.phone] {
            #expect(try await device.nextNotification()?.subscriptionID == "all")
        }
    }

    @Test("SUB-48: a device that ended its registration gets no more pushes there")
    func unregister() async throws {
        let home = try await home()
        home.phone.unregisterForRemoteNotifications()
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
    }

    @Test("SUB-52: the push names the user the subscription belongs to")
    func owner() async throws {
        let home = try await home()
        try await home.laptop.privateDatabase.save(item("a"))
        let notification = try await home.phone.nextNotification()
        let owner = try await home.phone.userRecordName()
        #expect(notification?.subscriptionOwnerUserRecordID?.recordName == owner)
    }

    @Test("SUB-10: a change in another user's private database concerns nobody else")
    func otherUsersZone() async throws {
        let home = try await home()
        try await home.other.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
        #expect(home.laptop.pendingPushes.isEmpty)
    }

    @Test("SUB-11: development and production do not notify one another")
    func environments() async throws {
        let home = try await home()
        try await home.laptop.privateDatabase.save(item("first"))
        _ = try await home.phone.nextPush()
        try await home.cloud.deploySchema()
        let released = try await home.cloud.device(user: "anna", environment: .production)
        try await released.registerForRemoteNotifications()
        try await released.privateDatabase.save(CKRecordZone(zoneID: Household.feed))
        try await released.privateDatabase.save(item("a"))
        try await home.phone.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("b"))
        _ = try await home.phone.nextPush()
        try await released.expectNoPushes()
    }

    @Test("SUB-64, T-16: a batch that was rolled back notifies nobody")
    func rolledBackBatch() async throws {
        let home = try await home()
        try await home.laptop.privateDatabase.save(item("taken"))
        _ = try await home.phone.nextPush()
        let results = try await home.laptop.privateDatabase.modifyRecords(
            saving: [item("good"), item("taken")],
            deleting: []
        )
        #expect(results.saveResults[itemID("good")]?.ckCode == .batchRequestFailed)
        #expect(results.saveResults[itemID("taken")]?.ckCode == .serverRecordChanged)
        try await home.phone.expectNoPushes()
    }

    @Test(
        "SUB-51: a user who signed out on a device receives nothing there; one who signed in does")
    func signOut() async throws {
        let home = try await home()
        try await home.other.privateDatabase.save(CKDatabaseSubscription(subscriptionID: "bens"))
        let bens = try await home.phone.signIn("ben")
        try await bens.registerForRemoteNotifications()
        try await home.laptop.privateDatabase.save(item("annas"))
        try await home.phone.expectNoPushes()
        #expect(bens.pendingPushes.isEmpty)
        try await home.other.privateDatabase.save(item("bens"))
        #expect(try await bens.nextNotification()?.subscriptionID == "bens")

        // Back to the first user, whose new changes are delivered again.
        let annas = try await bens.signIn("anna")
        try await annas.registerForRemoteNotifications()
        try await annas.expectNoPushes()
        try await home.laptop.privateDatabase.save(item("again"))
        #expect(try await annas.nextNotification()?.subscriptionID == "all")
        #expect(bens.pendingPushes.isEmpty)
    }
}
