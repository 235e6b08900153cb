// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

/// What an app keeps of its private database: the records by name, and the change
/// tokens it fetched them with.
///
/// It fetches as apps do, with the two operations made for it, from the tokens it
/// stored, and remembers everything that was handed to it.
actor LocalCopy {
    /// The titles of the records by `zone/record`.
    private(set) var titles: [String: String] = [:]
    /// What the operations handed over since ``forgetNews()``, in order.
    private(set) var news: [String] = []
    private var databaseToken: CKServerChangeToken?
    private var zoneTokens: [CKRecordZone.ID: CKServerChangeToken] = [:]

    /// Empties ``news``.
    func forgetNews() {
        news = []
    }

    /// Fetches what changed since the last time.
    func fetchChanges(from database: CKDatabase) async throws {
        let (changed, deleted) = try await fetchZones(from: database)
        for zoneID in deleted {
            zoneTokens[zoneID] = nil
            titles = titles.filter { !$0.key.hasPrefix("\(zoneID.zoneName)/") }
        }
        if !changed.isEmpty { try await fetchRecords(of: changed, from: database) }
    }

    private func fetchZones(
        from database: CKDatabase
    ) async throws -> (changed: [CKRecordZone.ID], deleted: [CKRecordZone.ID]) {
        let changed = Log<CKRecordZone.ID>()
        let deleted = Log<CKRecordZone.ID>()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: databaseToken)
        operation.recordZoneWithIDChangedBlock = { changed.append($0) }
        operation.recordZoneWithIDWasDeletedBlock = { deleted.append($0) }
        databaseToken = try await withCheckedThrowingContinuation { continuation in
            operation.fetchDatabaseChangesResultBlock = { result in
                continuation.resume(with: result.map { $0.serverChangeToken })
            }
            database.add(operation)
        }
        news += changed.entries.map { "zone \($0.zoneName)" }
        news += deleted.entries.map { "zone \($0.zoneName) deleted" }
        return (changed.entries, deleted.entries)
    }

    private enum Event: Sendable {
        case changed(CKRecord.ID, String)
        case deleted(CKRecord.ID, String)
        case token(CKRecordZone.ID, CKServerChangeToken)
    }

    private func fetchRecords(
        of zoneIDs: [CKRecordZone.ID],
        from database: CKDatabase
    ) async throws {
        let events = Log<Event>()
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zoneIDs,
            configurationsByRecordZoneID: zoneTokens.mapValues { token in
                CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                    previousServerChangeToken: token
                )
            }
        )
        operation.recordWasChangedBlock = { recordID, result in
            guard case .success(let record) = result else { return }
            events.append(.changed(recordID, record["title"] as? String ?? ""))
        }
        operation.recordWithIDWasDeletedBlock = { events.append(.deleted($0, $1)) }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            guard case .success(let (token, _, _)) = result else { return }
            events.append(.token(zoneID, token))
        }
        try await withCheckedThrowingContinuation { continuation in
            operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
            database.add(operation)
        }
        for event in events.entries { apply(event) }
    }

    private func apply(_ event: Event) {
        switch event {
        case .changed(let id, let title):
            titles["\(id.zoneID.zoneName)/\(id.recordName)"] = title
            news.append("\(id.recordName) = \(title)")
        case .deleted(let id, let type):
            titles["\(id.zoneID.zoneName)/\(id.recordName)"] = nil
            news.append("\(id.recordName) deleted (\(type))")
        case .token(let zoneID, let token):
            zoneTokens[zoneID] = token
        }
    }
}
