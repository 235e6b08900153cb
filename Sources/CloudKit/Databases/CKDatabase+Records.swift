// SPDX-License-Identifier: Apache-2.0
import Foundation

// Records by their IDs. Forms for several items report each item's result by its ID and
// fail as a whole only when the request does (OP-13).
extension CKDatabase {
    /// Fetches a record.
    @preconcurrency
    public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        fetch(withRecordIDs: [recordID]) { results in
            results.hand(recordID, to: completionHandler)
        }
    }

    /// Returns a record; fails with `unknownItem` when it does not exist (REC-12).
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        try await records(for: [recordID]).only(recordID)
    }

    /// Fetches records; with nil as desired keys all fields, with an empty array only the system
    /// fields.
    @preconcurrency
    public func fetch(
        withRecordIDs recordIDs: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil,
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>
            ) -> Void
    ) {
        let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
        operation.desiredKeys = desiredKeys
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns records by their IDs; with nil as desired keys all fields, with an empty array only
    /// the system fields.
    public func records(
        for ids: [CKRecord.ID],
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        let operation = CKFetchRecordsOperation(recordIDs: ids)
        operation.desiredKeys = desiredKeys
        return try await value(of: operation) { operation.collect($0) }
    }

    /// Saves a record, unless the server has another version of it (SAVE-2).
    @preconcurrency
    public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        modifyRecords(saving: [record], deleting: []) { results in
            results.map(\.saveResults).hand(record.recordID, to: completionHandler)
        }
    }

    /// Saves a record, unless the server has another version of it (SAVE-2); returns it with the
    /// values that the server set (SAVE-29).
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        try await modifyRecords(saving: [record], deleting: []).saveResults.only(record.recordID)
    }

    /// Deletes a record, whatever its version.
    @preconcurrency
    public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        modifyRecords(saving: [], deleting: [recordID]) { results in
            results.map(\.deleteResults).handID(recordID, to: completionHandler)
        }
    }

    /// Deletes a record, whatever its version; a record that does not exist counts as deleted
    /// (SAVE-23).
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        let results = try await modifyRecords(saving: [], deleting: [recordID]).deleteResults
        try results.only(recordID)
        return recordID
    }

    /// Saves and deletes records; see ``CKModifyRecordsOperation``.
    @preconcurrency
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true,
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
                        deleteResults: [CKRecord.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKModifyRecordsOperation(
            recordsToSave: recordsToSave,
            recordIDsToDelete: recordIDsToDelete
        )
        operation.savePolicy = savePolicy
        operation.isAtomic = atomically
        operation.collect(completionHandler)
        run(operation)
    }

    /// Saves and deletes records; see ``CKModifyRecordsOperation``.
    public func modifyRecords(
        saving recordsToSave: [CKRecord],
        deleting recordIDsToDelete: [CKRecord.ID],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        let operation = CKModifyRecordsOperation(
            recordsToSave: recordsToSave,
            recordIDsToDelete: recordIDsToDelete
        )
        operation.savePolicy = savePolicy
        operation.isAtomic = atomically
        return try await value(of: operation) { operation.collect($0) }
    }
}

extension CKFetchRecordsOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ItemResults<CKRecord>>) {
        var results: ItemResults<CKRecord> = [:]
        perRecordResultBlock = { results[$0] = $1 }
        fetchRecordsResultBlock = { result in done(result.map { results }) }
    }
}

extension CKModifyRecordsOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ModifyResults<CKRecord>>) {
        var saved: ItemResults<CKRecord> = [:]
        var deleted: [CKRecord.ID: Result<Void, any Error>] = [:]
        perRecordSaveBlock = { saved[$0] = $1 }
        perRecordDeleteBlock = { deleted[$0] = $1 }
        modifyRecordsResultBlock = { result in
            done(result.map { (saveResults: saved, deleteResults: deleted) })
        }
    }
}
