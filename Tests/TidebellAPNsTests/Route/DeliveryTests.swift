// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

@Suite("Pushes by Apple's push service", .hangs)
struct DeliveryTests {
    @Test("NINFO-24, NINFO-26: a silent push reaches Apple in the background, with low priority")
    func silent() async throws {
        let home = try await AppleHousehold()
        try await home.touch()
        let push = try await home.apple.next()
        #expect(push.deviceToken == home.token)
        #expect(push.topic == "org.example.app")
        #expect(push.pushType == "background")
        #expect(push.priority == 5)
        #expect(push.collapseID == nil)
        #expect(push.expiration == home.clock.date.addingTimeInterval(30 * 24 * 3600))
        let notification = try #require(push.notification as? CKRecordZoneNotification)
        #expect(notification.subscriptionID == "silent")
        #expect(push.id == (push.userInfo["ck"] as? [String: Any])?["nid"] as? String)
    }

    @Test("NINFO-25: a visual push reaches Apple as an alert, with high priority")
    func loud() async throws {
        let home = try await AppleHousehold()
        try await home.note(7)
        let push = try await home.apple.next()
        #expect(push.pushType == "alert" && push.priority == 10)
        #expect(home.numbers(of: [push]) == [7])
        let aps = push.userInfo["aps"] as? [String: Any]
        #expect(aps?["alert"] as? String == "New note")
    }

    @Test("SUB-46: the device that made a change gets no push from Apple either")
    func originIsExcluded() async throws {
        let home = try await AppleHousehold()
        try await home.note(1, on: home.phone)
        try await home.cloud.settle()
        #expect(home.apple.received == [])
        try await home.note(2)
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == [2])
    }

    @Test("PUSH-9: all of a user's devices get the same ID, each by its own token")
    func twoDevices() async throws {
        let home = try await AppleHousehold()
        let pad = try await home.cloud.device(user: "anna")
        let padToken = try await pad.registerAppleDevice()
        let ben = try await home.cloud.device(user: "ben")
        try await ben.registerAppleDevice()
        try await home.note()
        try await home.cloud.settle()
        let pushes = home.apple.received
        #expect(Set(pushes.map(\.deviceToken)) == [home.token, padToken])
        #expect(pushes.count == 2 && Set(pushes.map(\.id)).count == 1)
    }

    @Test("PUSH-13: pushes of one device come in commit order")
    func order() async throws {
        let home = try await AppleHousehold()
        for number in 0..<40 { try await home.note(number) }
        try await home.cloud.settle()
        #expect(home.numbers(of: home.apple.received) == Array(0..<40))
    }

    @Test("PUSH-11: each container has its own topic")
    func twoContainers() async throws {
        let chess = "iCloud.org.example.chess"
        let home = try await AppleHousehold(apps: [
            TestCloud.defaultContainer: "org.example.app", chess: "org.example.chess",
        ])
        try await AppleHousehold.prepare(home.laptop, container: chess)
        try await home.phone.registerAppleDevice(container: chess)
        try await home.note(1)
        try await home.note(2, container: chess)
        try await home.cloud.settle()
        let topics = Dictionary(
            uniqueKeysWithValues: home.apple.received.map { ($0.topic, home.numbers(of: [$0])) }
        )
        #expect(topics == ["org.example.app": [1], "org.example.chess": [2]])
    }

    @Test("PUSH-10: a token of the other APNs environment gets no push")
    func otherEnvironment() async throws {
        let home = try await AppleHousehold()
        let pad = try await home.cloud.device(user: "anna")
        let foreign = try await pad.registerAppleDevice(of: .production)
        try await home.note(1)
        try await home.cloud.settle()
        #expect(home.apple.received.map(\.deviceToken) == [home.token])
        // Registered rightly, it gets what comes after.
        try await pad.registerAppleDevice(token: foreign)
        try await home.note(2)
        try await home.cloud.settle()
        let toForeign = home.apple.received.filter { $0.deviceToken == foreign }
        #expect(home.numbers(of: toForeign) == [2])
    }

    @Test("SUB-51: a token that another user registers gets that user's pushes only")
    func otherUser() async throws {
        let home = try await AppleHousehold()
        let bens = try await home.phone.signIn("ben")
        let token = try await bens.registerAppleDevice(token: home.token)
        try await home.note()
        try await home.cloud.settle()
        #expect(home.apple.received == [])
        let bensLaptop = try await home.cloud.device(user: "ben")
        try await AppleHousehold.prepare(bensLaptop)
        try await home.note(5, on: bensLaptop)
        try await home.cloud.settle()
        #expect(home.apple.received.map(\.deviceToken) == [token])
    }

    @Test("few connections carry many pushes, and stay open")
    func connections() async throws {
        let home = try await AppleHousehold()
        for number in 0..<20 {
            try await home.note(number)
            try await home.cloud.settle()
        }
        #expect(home.apple.received.count == 20)
        #expect((1...2).contains(home.apple.connectionCount))
    }

    @Test("without the app's key the cloud works, only not by Apple")
    func noKey() async throws {
        let cloud = try await TestCloud()
        let laptop = try await cloud.device(user: "anna")
        let phone = try await cloud.device(user: "anna")
        try await phone.registerAppleDevice()
        try await AppleHousehold.prepare(laptop)
        try await phone.registerForRemoteNotifications()
        let record = CKRecord(recordType: "Note")
        _ = try await laptop.container().privateCloudDatabase.save(record)
        #expect(try await phone.nextPush().notification is CKQueryNotification)
        try await cloud.settle()
    }
}
