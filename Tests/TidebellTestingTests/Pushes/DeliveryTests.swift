// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

@Suite("Delivery of pushes", .finishesClouds)
struct DeliveryTests {
    private func home() async throws -> Household {
        let home = try await Household()
        try await home.subscribe(CKDatabaseSubscription(subscriptionID: "all"))
        return home
    }

    private func query(
        _ info: CKSubscription.NotificationInfo = .silent
    ) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: "FeedItem",
            predicate: NSPredicate(value: true),
            subscriptionID: "query",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate]
        )
        subscription.notificationInfo = info
        return subscription
    }

    @Test("PUSH-2: background pushes of one subscription that wait are merged into the newest")
    func backgroundPushesMerge() async throws {
        let home = try await home()
        home.phone.goOffline()
        for index in 0..<5 {
            try await home.laptop.privateDatabase.save(item("a\(index)"))
            try await home.cloud.settle()
        }
        let second = CKRecordZone.ID(zoneName: "Second")
        try await home.laptop.privateDatabase.save(CKRecordZone(zoneID: second))
        try await home.cloud.settle()
        try await home.phone.goOnline()
        let push = try await home.phone.nextPush()
        let met = (push.userInfo["ck"] as? [String: Any])?["met"] as? [String: Any]
        #expect(met?["zid"] as? String == "Second")
        try await home.phone.expectNoPushes()
    }

    @Test("PUSH-2: query pushes and visual pushes are not merged")
    func otherPushesDoNotMerge() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(query())
        let visual = CKDatabaseSubscription(subscriptionID: "visual")
        visual.notificationInfo = CKSubscription.NotificationInfo(alertBody: "changed")
        try await home.phone.privateDatabase.save(visual)
        home.phone.goOffline()
        for index in 0..<3 {
            try await home.laptop.privateDatabase.save(item("a\(index)"))
            try await home.cloud.settle()
        }
        try await home.phone.goOnline()
        try await home.cloud.settle()
        let ids = home.phone.takePushes().compactMap { $0.notification?.subscriptionID }
        #expect(ids.filter { $0 == "query" }.count == 3)
        #expect(ids.filter { $0 == "visual" }.count == 3)
    }

    @Test("PUSH-7, PUSH-9: every push has an ID of its own, the same on all devices")
    func notificationIDs() async throws {
        let home = try await home()
        let tablet = try await home.cloud.device(user: "anna")
        try await tablet.registerForRemoteNotifications()
        var onPhone: [String?] = []
        for index in 0..<3 {
            try await home.laptop.privateDatabase.save(item("a\(index)"))
            let push = try await home.phone.nextPush()
            #expect(push.notificationID == (try await tablet.nextPush()).notificationID)
            onPhone.append(push.notificationID)
        }
        #expect(Set(onPhone).count == 3)
    }

    @Test("PUSH-13: a device that was away gets what it missed, in commit order, once")
    func missedPushes() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(query())
        try await home.laptop.privateDatabase.save(item("before"))
        _ = try await home.phone.nextPush()
        home.phone.goOffline()
        let names = (0..<30).map { "away\($0)" }
        for name in names { try await home.laptop.privateDatabase.save(item(name)) }
        try await home.phone.goOnline()
        try await home.laptop.privateDatabase.save(item("after"))
        try await home.cloud.settle()
        let received = home.phone.takePushes().compactMap {
            ($0.notification as? CKQueryNotification)?.recordID?.recordName
        }
        #expect(received == names + ["after"])
    }

    @Test(
        "PUSH-13, PUSH-14: restarts at any moment lose no push and deliver none twice",
        arguments: [1, 2, 3] as [UInt64])
    func restarts(seed: UInt64) async throws {
        let cloud = try await TestCloud(seed: seed)
        let phone = try await cloud.device(user: "anna")
        let laptop = try await cloud.device(user: "anna")
        try await phone.privateDatabase.save(query())
        try await phone.registerForRemoteNotifications()
        var expected: [String] = []
        for round in 0..<4 {
            for index in 0..<5 {
                let name = "r\(round)-\(index)"
                try await laptop.privateDatabase.save(item(name, zone: .default))
                expected.append(name)
            }
            // What is in the outbox, in the log or on the wire now must survive.
            try await cloud.restart()
        }
        try await cloud.settle()
        let received = phone.takePushes().compactMap {
            ($0.notification as? CKQueryNotification)?.recordID?.recordName
        }
        #expect(received == expected, "seed \(seed)")
    }

    @Test("PUSH-14: what a push reports can be fetched when it arrives")
    func changeIsVisible() async throws {
        let home = try await home()
        let copy = LocalCopy()
        for index in 0..<10 {
            try await home.laptop.privateDatabase.save(item("a\(index)", "t\(index)"))
            _ = try await home.phone.nextPush()
            try await copy.fetchChanges(from: home.phone.privateDatabase)
            #expect(await copy.titles["Feed/a\(index)"] == "t\(index)")
        }
    }

    @Test(
        "PUSH-12: the device stream carries visual and silent pushes alike, with no permission asked"
    )
    func noPermissionNeeded() async throws {
        let home = try await Household()
        try await home.phone.privateDatabase.save(
            query(CKSubscription.NotificationInfo(alertBody: "Hello"))
        )
        try await home.laptop.privateDatabase.save(item("a"))
        let push = try await home.phone.nextPush()
        #expect((push.userInfo["aps"] as? NSDictionary) == ["alert": "Hello"] as NSDictionary)
    }

    @Test("heart-beats keep an idle stream open: pushes arrive after hours of silence")
    func idleForHours() async throws {
        let home = try await home()
        let clock = home.cloud.clock
        let sleepers = clock.deadlines.count
        for _ in 0..<240 {
            await clock.advance(by: .seconds(15))
            // A clock that ran away from a heart-beat would make the connection a silent one.
            await eventually { clock.deadlines.count == sleepers }
        }
        try await home.laptop.privateDatabase.save(item("a"))
        #expect(try await home.phone.nextNotification()?.subscriptionID == "all")
    }

    @Test("NOTIF-15: what a device missed is kept for 30 days and not longer")
    func retention() async throws {
        let home = try await home()
        try await home.phone.privateDatabase.save(query())
        home.phone.goOffline()
        try await home.laptop.privateDatabase.save(item("old"))
        try await home.cloud.settle()
        await home.cloud.clock.jump(by: .seconds(20 * 24 * 3600))
        try await home.laptop.privateDatabase.save(item("young"))
        try await home.cloud.settle()
        await home.cloud.clock.jump(by: .seconds(11 * 24 * 3600))
        try await home.cloud.settle()
        try await home.phone.goOnline()
        try await home.cloud.settle()
        let received = home.phone.takePushes().compactMap {
            ($0.notification as? CKQueryNotification)?.recordID?.recordName
        }
        #expect(received == ["young"])
    }
}
