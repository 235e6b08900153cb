// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellTesting

/// Anna's laptop, which writes, and her phone, which gets its pushes by Apple's push
/// service.
struct AppleHousehold {
    static let feed = CKRecordZone.ID(zoneName: "Feed")

    let apple: FakeAPNs
    let cloud: TestCloud
    let laptop: TestDevice
    let phone: TestDevice
    let token: String

    init(apps: [String: String] = [TestCloud.defaultContainer: FakeAPNs.defaultTopic]) async throws
    {
        apple = try await FakeAPNs(apps: apps)
        cloud = try await TestCloud(apns: apple)
        laptop = try await cloud.device(user: "anna")
        phone = try await cloud.device(user: "anna")
        token = try await phone.registerAppleDevice()
        try await Self.prepare(laptop)
    }

    /// The clock of the cloud.
    var clock: ManualClock { cloud.clock }

    /// Makes the zone, and subscribes to it silently and to notes with an alert.
    static func prepare(_ device: TestDevice, container: String? = nil) async throws {
        let database = device.container(container).privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: feed))
        let silent = CKRecordZoneSubscription(zoneID: feed, subscriptionID: "silent")
        let silentInfo = CKSubscription.NotificationInfo()
        silentInfo.shouldSendContentAvailable = true
        silent.notificationInfo = silentInfo
        let loud = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "loud",
            options: [.firesOnRecordCreation]
        )
        let loudInfo = CKSubscription.NotificationInfo()
        loudInfo.alertBody = "New note"
        loudInfo.desiredKeys = ["number"]
        loud.notificationInfo = loudInfo
        _ = try await database.save(silent)
        _ = try await database.save(loud)
    }

    /// Saves a record in the zone: one silent push.
    func touch(_ device: TestDevice? = nil, container: String? = nil) async throws {
        try await save("Item", on: device ?? laptop, zone: Self.feed, container: container)
    }

    /// Saves a note outside the zone: one push with an alert.
    func note(
        _ number: Int = 0, on device: TestDevice? = nil, container: String? = nil
    ) async throws {
        try await save(
            "Note", on: device ?? laptop, zone: CKRecordZone.default().zoneID, number: number,
            container: container
        )
    }

    private func save(
        _ type: String, on device: TestDevice, zone: CKRecordZone.ID, number: Int = 0,
        container: String?
    ) async throws {
        let id = CKRecord.ID(recordName: UUID().uuidString, zoneID: zone)
        let record = CKRecord(recordType: type, recordID: id)
        record["number"] = number
        _ = try await device.container(container).privateCloudDatabase.save(record)
    }

    /// The numbers of the notes that pushes report, in order.
    func numbers(of pushes: [FakeAPNs.Push]) -> [Int] {
        pushes.compactMap { push in
            let fields = (push.notification as? CKQueryNotification)?.recordFields
            return (fields?["number"] as? NSNumber)?.intValue
        }
    }

    /// Lets everything that waits for the time have its turn, and settles.
    func pass(_ duration: Duration) async throws {
        await clock.jump(by: duration)
        try await cloud.settle()
    }
}
