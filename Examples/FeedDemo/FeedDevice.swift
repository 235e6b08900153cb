// SPDX-License-Identifier: Apache-2.0
import CloudKit

/// An app's sync code, written as for Apple's platforms: it knows of no server,
/// user or device.
final class FeedDevice: Sendable {
    static let zoneID = CKRecordZone.ID(zoneName: "Feed", ownerName: CKCurrentUserDefaultName)

    let container = CKContainer(identifier: "iCloud.org.tidebell.feed")
    private let store = FeedStore()

    var database: CKDatabase { container.privateCloudDatabase }

    /// Saves both subscriptions, as on Apple's pages for them.
    func subscribe() async throws {
        let databaseSubscription = CKDatabaseSubscription(subscriptionID: "all-changes")
        let databaseInfo = CKSubscription.NotificationInfo()
        databaseInfo.shouldSendContentAvailable = true
        databaseSubscription.notificationInfo = databaseInfo

        let zoneSubscription = CKRecordZoneSubscription(
            zoneID: Self.zoneID, subscriptionID: "feed-changes"
        )
        zoneSubscription.recordType = "FeedItem"
        let zoneInfo = CKSubscription.NotificationInfo()
        zoneInfo.shouldSendContentAvailable = true
        zoneSubscription.notificationInfo = zoneInfo

        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [databaseSubscription, zoneSubscription],
            subscriptionIDsToDelete: nil
        )
        try await withCheckedThrowingContinuation { continuation in
            operation.modifySubscriptionsResultBlock = { continuation.resume(with: $0) }
            operation.qualityOfService = .utility
            database.add(operation)
        }
    }

    /// Creates the zone, which is a change of the database like any other.
    func createZone() async throws {
        _ = try await database.save(CKRecordZone(zoneID: Self.zoneID))
    }

    /// Saves new records of one type.
    func save(type: String, titles: [String: String]) async throws {
        let records = titles.map { name, title in
            let record = CKRecord(
                recordType: type,
                recordID: CKRecord.ID(recordName: name, zoneID: Self.zoneID)
            )
            record["title"] = title
            return record
        }
        _ = try await database.modifyRecords(saving: records, deleting: [])
        for record in records { await store.put(record) }
    }

    /// Changes a record's title, on top of the server's version.
    func change(_ name: String, title: String) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        let record = try await database.record(for: recordID)
        record["title"] = title
        await store.put(try await database.save(record))
    }

    /// Deletes a record.
    func delete(_ name: String) async throws {
        let recordID = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
        _ = try await database.deleteRecord(withID: recordID)
        await store.remove(recordID)
    }

    /// Returns what a push is.
    func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) -> String {
        switch CKNotification(fromRemoteNotificationDictionary: userInfo) {
        case let notification as CKRecordZoneNotification:
            let zone = notification.recordZoneID?.zoneName ?? "?"
            let subscription = notification.subscriptionID ?? "?"
            return "CKRecordZoneNotification \"\(subscription)\" for zone \(zone)"
        case let notification as CKDatabaseNotification:
            return "CKDatabaseNotification \"\(notification.subscriptionID ?? "?")\""
        default:
            return "a notification of no known kind"
        }
    }

    /// Fetches what changed since the stored tokens; returns how many records
    /// and deletions came.
    func fetchChanges() async throws -> FetchedChanges {
        let changedZones = try await fetchDatabaseChanges()
        return try await fetchZoneChanges(changedZones)
    }

    /// The device's records, one line each.
    func lines() async -> [String] {
        await store.lines()
    }

    private func fetchDatabaseChanges() async throws -> [CKRecordZone.ID] {
        let operation = CKFetchDatabaseChangesOperation(
            previousServerChangeToken: await store.databaseToken
        )
        nonisolated(unsafe) var changed: [CKRecordZone.ID] = []
        operation.recordZoneWithIDChangedBlock = { changed.append($0) }
        let token = try await withCheckedThrowingContinuation { continuation in
            operation.fetchDatabaseChangesResultBlock = { result in
                continuation.resume(with: result.map(\.serverChangeToken))
            }
            database.add(operation)
        }
        await store.setDatabaseToken(token)
        return changed
    }

    private func fetchZoneChanges(_ zoneIDs: [CKRecordZone.ID]) async throws -> FetchedChanges {
        guard !zoneIDs.isEmpty else { return FetchedChanges() }
        var configurations: [CKRecordZone.ID: CKFetchRecordZoneChangesOperation.ZoneConfiguration] =
            [:]
        for zoneID in zoneIDs {
            configurations[zoneID] = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                previousServerChangeToken: await store.zoneToken(zoneID)
            )
        }
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zoneIDs, configurationsByRecordZoneID: configurations
        )
        nonisolated(unsafe) var changes = FetchedChanges()
        operation.recordWasChangedBlock = { _, result in
            if case .success(let record) = result { changes.records.append(record) }
        }
        operation.recordWithIDWasDeletedBlock = { recordID, _ in
            changes.deletions.append(recordID)
        }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            if case .success(let success) = result {
                changes.tokens[zoneID] = success.serverChangeToken
            }
        }
        try await withCheckedThrowingContinuation { continuation in
            operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
            database.add(operation)
        }
        await store.apply(changes)
        return changes
    }
}

/// What one fetch brought.
struct FetchedChanges: Sendable {
    var records: [CKRecord] = []
    var deletions: [CKRecord.ID] = []
    var tokens: [CKRecordZone.ID: CKServerChangeToken] = [:]

    var count: Int { records.count + deletions.count }
}

/// What the app keeps on the device: records and change tokens.
actor FeedStore {
    private var records: [CKRecord.ID: CKRecord] = [:]
    private(set) var databaseToken: CKServerChangeToken? = FeedStore.archivedToken("database")

    func zoneToken(_ zoneID: CKRecordZone.ID) -> CKServerChangeToken? {
        Self.archivedToken(zoneID.zoneName)
    }

    func setDatabaseToken(_ token: CKServerChangeToken) {
        databaseToken = token
        Self.archive(token, as: "database")
    }

    func apply(_ changes: FetchedChanges) {
        for record in changes.records { records[record.recordID] = record }
        for recordID in changes.deletions { records[recordID] = nil }
        for (zoneID, token) in changes.tokens { Self.archive(token, as: zoneID.zoneName) }
    }

    func put(_ record: CKRecord) {
        records[record.recordID] = record
    }

    func remove(_ recordID: CKRecord.ID) {
        records[recordID] = nil
    }

    func lines() -> [String] {
        records.values
            .map { "\($0.recordID.recordName) \($0.recordType) \($0["title"] as? String ?? "-")" }
            .sorted()
    }

    private static func archivedToken(_ name: String) -> CKServerChangeToken? {
        guard let data = UserDefaults.standard.data(forKey: "token-\(name)") else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self, from: data
        )
    }

    private static func archive(_ token: CKServerChangeToken, as name: String) {
        let data = try? NSKeyedArchiver.archivedData(
            withRootObject: token, requiringSecureCoding: true
        )
        UserDefaults.standard.set(data, forKey: "token-\(name)")
    }
}
