// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Badges and collapse IDs", .finishesClouds)
struct BadgeTests {
    private func home(_ info: CKSubscription.NotificationInfo) async throws -> Household {
        let home = try await Household()
        let subscription = CKQuerySubscription(
            recordType: "FeedItem", predicate: NSPredicate(value: true), subscriptionID: "query"
        )
        subscription.notificationInfo = info
        try await home.phone.privateDatabase.save(subscription)
        return home
    }

    @available(*, deprecated)
    @Test("NINFO-11, T-13: every push that badges counts one more than the one before")
    func countsUp() async throws {
        let home = try await home(CKSubscription.NotificationInfo(shouldBadge: true))
        for count in 1...3 {
            try await home.laptop.privateDatabase.save(item("a\(count)"))
            let push = try await home.phone.nextPush()
            #expect(push.notification?.badge?.intValue == count)
            #expect(push.userInfo["aps"] as? NSDictionary == ["badge": count] as NSDictionary)
        }
    }

    @available(*, deprecated)
    @Test("NINFO-11, PUSH-9: all devices of a user show the same number, other users their own")
    func sharedByDevices() async throws {
        let home = try await home(
            CKSubscription.NotificationInfo(alertBody: "New", shouldBadge: true))
        let tablet = try await home.cloud.device(user: "anna")
        try await tablet.registerForRemoteNotifications()
        try await home.laptop.privateDatabase.save(item("a"))
        try await home.laptop.privateDatabase.save(item("b"))
        for count in 1...2 {
            for device in [home.phone, tablet] {
                #expect(try await device.nextNotification()?.badge?.intValue == count)
            }
        }
    }

    @Test("NINFO-15, PUSH-2: a device that was away gets the newest push of each collapse ID")
    func collapses() async throws {
        let home = try await home(
            CKSubscription.NotificationInfo(alertBody: "New", collapseIDKey: "title"))
        home.phone.goOffline()
        for (name, thread) in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")] {
            try await home.laptop.privateDatabase.save(item(name, thread))
            try await home.cloud.settle()
        }
        try await home.phone.goOnline()
        try await home.cloud.settle()
        let records = home.phone.takePushes().compactMap {
            ($0.notification as? CKQueryNotification)?.recordID?.recordName
        }
        #expect(records == ["b", "d"])
    }

    @Test("NINFO-11, T-14: the badge outlives every text of a payload that is too large")
    func survivesPruning() async throws {
        let home = try await home(
            CKSubscription.NotificationInfo(
                alertBody: String(repeating: "b", count: 5_000), soundName: "default",
                shouldBadge: true
            )
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let push = try await home.phone.nextPush()
        #expect(push.userInfo["aps"] as? NSDictionary == ["badge": 1] as NSDictionary)
        #expect(push.notification?.isPruned == true)
    }
}
