// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What became of zones that were sent.
struct SentZones: Sendable {
    /// The event that the delegate receives.
    let event: CKSyncEngine.Event.SentDatabaseChanges
    /// The errors of zones.
    let errors: [CKRecordZone.ID: CKError]
    /// Why the request failed as a whole.
    let whole: CKError?

    /// Sends zones.
    init(_ changes: [CKSyncEngine.PendingDatabaseChange], _ requests: SyncRequests) async {
        var zones: [CKRecordZone] = []
        var goneIDs: [CKRecordZone.ID] = []
        for change in changes {
            switch change {
            case .saveZone(let zone): zones.append(zone)
            case .deleteZone(let zoneID): goneIDs.append(zoneID)
            }
        }
        var errors: [CKRecordZone.ID: CKError] = [:]
        var failure: CKError?
        do throws(CKError) {
            let results = try await requests.modifyZones(saving: zones, deleting: goneIDs)
            for (zoneID, result) in results.saves { errors[zoneID] = result.failure }
            for (zoneID, result) in results.deletions { errors[zoneID] = result.failure }
        } catch {
            failure = error
            for change in changes { errors[change.itemID] = error }
        }
        self.errors = errors
        whole = failure
        event = CKSyncEngine.Event.SentDatabaseChanges(
            savedZones: zones.filter { errors[$0.zoneID] == nil },
            failedZoneSaves: zones.compactMap { zone in
                errors[zone.zoneID].map { .init(zone: zone, error: $0) }
            },
            deletedZoneIDs: goneIDs.filter { errors[$0] == nil },
            failedZoneDeletes: errors.filter { goneIDs.contains($0.key) }
        )
    }

    /// Whether a change is to be sent again.
    func isStillPending(_ change: CKSyncEngine.PendingDatabaseChange) -> Bool {
        guard let error = errors[change.itemID] else { return false }
        // A request that failed as a whole shows nothing about what it was to change.
        return whole != nil || error.code.keepsChangePending
    }
}

/// What became of a batch of records.
struct SentRecords: Sendable {
    /// What was sent.
    let changes: [CKSyncEngine.PendingRecordZoneChange]
    /// The event that the delegate receives.
    let event: CKSyncEngine.Event.SentRecordZoneChanges
    /// The errors of records.
    let errors: [CKRecord.ID: CKError]
    /// Why nothing more could be sent.
    let whole: CKError?
    /// The zones whose changes had to be sent together, and were too much.
    private let crowdedZoneIDs: Set<CKRecordZone.ID>

    /// Sums up a batch and its outcome.
    init(_ batch: CKSyncEngine.RecordZoneChangeBatch, _ outcome: SyncRequests.BatchOutcome) {
        let missing = CKError.local(.internalError, "The operation did not report this record.")
        func error(_ result: Result<Void, CKError>?) -> CKError? {
            guard let result else { return outcome.failure ?? missing }
            return result.failure
        }
        let gone = batch.recordIDsToDelete
        var saveErrors: [CKRecord.ID: CKError] = [:]
        var deleteErrors: [CKRecord.ID: CKError] = [:]
        for record in batch.recordsToSave {
            saveErrors[record.recordID] = error(outcome.saves[record.recordID])
        }
        for recordID in gone { deleteErrors[recordID] = error(outcome.deletions[recordID]) }
        changes = batch.changes
        errors = saveErrors.merging(deleteErrors) { first, _ in first }
        whole = outcome.failure
        crowdedZoneIDs = batch.atomicByZone ? Self.crowdedZones(batch, errors) : []
        event = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: batch.recordsToSave.filter { saveErrors[$0.recordID] == nil },
            failedRecordSaves: batch.recordsToSave.compactMap { record in
                saveErrors[record.recordID].map { .init(record: record, error: $0) }
            },
            deletedRecordIDs: gone.filter { deleteErrors[$0] == nil },
            failedRecordDeletes: deleteErrors
        )
    }

    private static func crowdedZones(
        _ batch: CKSyncEngine.RecordZoneChangeBatch, _ errors: [CKRecord.ID: CKError]
    ) -> Set<CKRecordZone.ID> {
        let zones = batch.recordIDs.grouped(by: \.zoneID).filter { _, recordIDs in
            recordIDs.count > 1
                && recordIDs.allSatisfy { errors[$0]?.code == .limitExceeded }
        }
        return Set(zones.map { $0.0 })
    }

    /// Whether a change is to be sent again.
    func isStillPending(_ change: CKSyncEngine.PendingRecordZoneChange) -> Bool {
        guard let error = errors[change.itemID] else { return false }
        // A request that failed as a whole shows nothing about what it was to change.
        if error.code == whole?.code { return true }
        if crowdedZoneIDs.contains(change.itemID.zoneID) { return true }
        return error.code.keepsChangePending
    }
}

extension Result {
    /// The error; nil of a success.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
