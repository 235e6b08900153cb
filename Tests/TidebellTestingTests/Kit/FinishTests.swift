// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting
import TestSupport

@Suite("A cloud that ends looks for what nobody looked at", .hangs)
struct FinishTests {
    /// Anna's phone, which receives pushes for what her laptop saves.
    private func devices(
        of cloud: TestCloud
    ) async throws -> (phone: TestDevice, laptop: TestDevice) {
        let phone = try await cloud.device(user: "anna")
        let laptop = try await cloud.device(user: "anna")
        try await phone.registerForRemoteNotifications()
        let database = laptop.container().privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneName: "Notes"))
        _ = try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        return (phone, laptop)
    }

    private func save(_ name: String, on device: TestDevice) async throws {
        let zone = CKRecordZone.ID(zoneName: "Notes")
        let id = CKRecord.ID(recordName: name, zoneID: zone)
        _ = try await device.container().privateCloudDatabase
            .save(CKRecord(recordType: "Note", recordID: id))
    }

    /// What a cloud that ends reports as left over.
    private func leftOver(of cloud: TestCloud) async throws -> [String] {
        do {
            try await cloud.finish()
            return []
        } catch TestCloudError.leftOver(let list) {
            return list
        }
    }

    @Test(
        "A push that nobody took is left over, one that was taken is not", arguments: [false, true])
    func pushes(taken: Bool) async throws {
        let cloud = try await TestCloud()
        let (phone, laptop) = try await devices(of: cloud)
        try await save("a", on: laptop)
        if taken { _ = try await phone.nextPush() }
        let left = try await leftOver(of: cloud)
        #expect(left.count == (taken ? 0 : 1))
        for line in left {
            #expect(
                line.hasPrefix(
                    "the device \(phone.deviceID) of anna received a push that was not taken: {"))
        }
        // It is stopped, whatever was left.
        await #expect(throws: TestCloudError.self) { try await cloud.stop() }
    }

    @Test("A body that ran on a cloud leaves a push over, though its device is gone")
    func run() async throws {
        let error = await #expect(throws: TestCloudError.self) {
            try await TestCloud.run { cloud in
                let (_, laptop) = try await devices(of: cloud)
                try await save("a", on: laptop)
            }
        }
        guard case .leftOver(let left)? = error else {
            Issue.record("It ended with \(String(describing: error)).")
            return
        }
        #expect(left.count == 1)
        #expect(left.first?.contains("received a push that was not taken: {") == true, "\(left)")
        let value = try await TestCloud.run { cloud in
            let (phone, laptop) = try await devices(of: cloud)
            try await save("a", on: laptop)
            return try await phone.nextPush().json
        }
        #expect(value.contains("\"all\""))
    }

    @Test(
        "The error of a body that ran on a cloud wins over what is left", arguments: [false, true])
    func failure(isStopped: Bool) async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await TestCloud.run { cloud in
                let (_, laptop) = try await devices(of: cloud)
                try await save("a", on: laptop)
                if isStopped { try await cloud.stop() }
                throw Broken()
            }
        }
    }

    @Test("A push to Apple's service that nobody took is left over")
    func applePushes() async throws {
        let apple = try await FakeAPNs()
        let cloud = try await TestCloud(apns: apple)
        let (phone, laptop) = try await devices(of: cloud)
        phone.unregisterForRemoteNotifications()
        _ = try await phone.registerAppleDevice()
        try await save("a", on: laptop)
        let left = try await leftOver(of: cloud)
        #expect(left.count == 1)
        #expect(left.first?.hasPrefix("FakeAPNs received a push that was not taken: {") == true)
    }

    @Test(
        "Streams of devices that went offline or away are closed when the cloud ends",
        arguments: [false, true])
    func streams(sockets: Bool) async throws {
        let cloud = try await TestCloud(sockets: sockets)
        let (phone, laptop) = try await devices(of: cloud)
        do {
            let tablet = try await cloud.device(user: "anna")
            try await tablet.registerForRemoteNotifications()
        }
        phone.goOffline()
        try await save("a", on: laptop)
        #expect(try await leftOver(of: cloud) == [])
    }

    @Test("A warning or an error that the server logged is left over")
    func trouble() async throws {
        let home = try await AssetHome()
        let note = try await home.savedNote("text")
        let names = try home.serverFiles()
        for name in names {
            try FileManager.default.removeItem(
                at: home.cloud.assetFolder
                    .appendingPathComponent("kept/\(name.prefix(2))/\(name)"))
        }
        // The app sees an error; the operator would have seen a line.
        _ = await ckError { _ = try await home.database.record(for: note.recordID) }
        let left = try await leftOver(of: home.cloud)
        #expect(left.count == 1)
        #expect(left.first?.hasPrefix("the server logged: ") == true, "\(left)")
        #expect(left.first?.contains(try #require(names.first)) == true, "\(left)")
    }

    @Test("A file that is on its way is left over", arguments: [false, true])
    func transfers(isHeld: Bool) async throws {
        let home = try await AssetHome(sockets: true)
        let hold = home.phone.holdTransfers(after: 1 << 20)
        let record = home.note(try home.files.write("large", bytes: 8 << 20))
        let saved = Task { await ckError { try await home.database.save(record) } }
        try await hold.reached()
        if !isHeld {
            hold.release()
            _ = await saved.value
        }
        let left = try await leftOver(of: home.cloud)
        #expect(left == (isHeld ? ["files on their way: 1"] : []))
        // Without a server it would try again later, and nobody moves the clock.
        saved.cancel()
        hold.release()
        _ = await saved.value
    }
}
