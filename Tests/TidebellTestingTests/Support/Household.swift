// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellTesting

/// Two devices of anna and one of ben, all registered for pushes, and a zone in
/// anna's private database.
struct Household {
    /// The zone anna's devices share.
    static let feed = CKRecordZone.ID(zoneName: "Feed")

    let cloud: TestCloud
    let phone: TestDevice
    let laptop: TestDevice
    let other: TestDevice

    init(sockets: Bool = false) async throws {
        cloud = try await TestCloud(container: "iCloud.org.example.feed", sockets: sockets)
        phone = try await cloud.device(user: "anna")
        laptop = try await cloud.device(user: "anna")
        other = try await cloud.device(user: "ben")
        try await laptop.privateDatabase.save(CKRecordZone(zoneID: Self.feed))
        try await other.privateDatabase.save(CKRecordZone(zoneID: Self.feed))
        for device in [phone, laptop, other] { try await device.registerForRemoteNotifications() }
        FinishedClouds.add(cloud, phone, laptop, other)
    }

    /// Saves a silent subscription on the phone.
    func subscribe(
        _ subscription: CKSubscription,
        in scope: CKDatabase.Scope = .private
    ) async throws {
        subscription.notificationInfo = .silent
        try await phone.container().database(with: scope).save(subscription)
    }
}

extension CKSubscription.NotificationInfo {
    /// Wakes the app without showing anything.
    static var silent: CKSubscription.NotificationInfo {
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        return info
    }
}

extension TestDevice {
    /// The private database of the default container.
    var privateDatabase: CKDatabase { container().privateCloudDatabase }

    /// The public database of the default container.
    var publicDatabase: CKDatabase { container().publicCloudDatabase }

    /// The user's record name in the default container.
    func userRecordName() async throws -> String {
        try await container().userRecordID().recordName
    }

    /// Returns the next push, which must be of a subscription of `ID`, as its
    /// notification.
    func nextNotification() async throws -> CKNotification? {
        try await nextPush().notification
    }
}

/// Returns a new record of type `FeedItem` in the feed unless a zone is given.
func item(
    _ name: String,
    _ title: String = "",
    type: String = "FeedItem",
    zone: CKRecordZone.ID = Household.feed
) -> CKRecord {
    let record = CKRecord(
        recordType: type,
        recordID: CKRecord.ID(recordName: name, zoneID: zone)
    )
    record["title"] = title
    return record
}

/// Returns the ID of a record of the feed unless a zone is given.
func itemID(_ name: String, zone: CKRecordZone.ID = Household.feed) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone)
}
