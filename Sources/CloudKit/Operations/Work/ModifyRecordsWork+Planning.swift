// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension ModifyRecordsWork.PlannedItem {
    /// Plans to save a record as it is now.
    ///
    /// - Parameter saved: All that the operation saves.
    init(
        saving record: CKRecord,
        _ policy: CKModifyRecordsOperation.RecordSavePolicy,
        isRepeated: Bool,
        besides saved: Set<CKRecord.ID>,
        in database: DatabaseConnection
    ) {
        let sent = SentRecord(record, policy)
        change = .save(record)
        self.sent = sent
        do {
            try record.checkSaving(isRepeated: isRepeated, in: database)
            try record.checkCount(of: sent.fields)
            try (record as? CKShare)?.checkRoot(isIn: saved)
            for field in sent.fields {
                assets += try field.assetSlots(of: record.recordID, in: database)
            }
            operation = .success(
                try ModifyRecords.Operation(saving: record, sent, policy, in: database)
            )
        } catch {
            operation = .failure(error)
        }
    }

    /// Plans to delete a record.
    init(deleting recordID: CKRecord.ID, isRepeated: Bool) {
        change = .delete(recordID)
        operation =
            isRepeated
            ? .failure(.repeated(recordID))
            : .success(ModifyRecords.Operation(.forceDelete, recordName: recordID.recordName))
    }

    /// What is wrong with the item; nil for one that can be sent.
    var problem: CKError? {
        if case .failure(let error) = operation { return error }
        return nil
    }
}

extension CKRecord {
    /// Checks what needs no server: an item is there once, its parent is in its zone, its
    /// encrypted fields are not for everyone (SAVE-17, REF-9, REC-11).
    fileprivate func checkSaving(
        isRepeated: Bool,
        in database: DatabaseConnection
    ) throws(CKError) {
        guard !isRepeated else { throw .repeated(recordID) }
        if let parent, parent.recordID.zoneID.zoneName != recordID.zoneID.zoneName {
            throw .local(
                .invalidArguments,
                "The parent of record '\(recordID.recordName)' is in zone "
                    + "'\(parent.recordID.zoneID.zoneName)', but must be in the record's zone "
                    + "'\(recordID.zoneID.zoneName)'."
            )
        }
        if database.scope == .public, let field = fields.first(where: \.isEncrypted) {
            throw .local(
                .invalidArguments,
                "Field '\(field.key)' of record '\(recordID.recordName)' is encrypted, which "
                    + "the public database does not support: save it there as a plain field, or "
                    + "the record in the private database."
            )
        }
    }

    /// Checks that no more fields are saved than a record may have (LIMIT-12).
    fileprivate func checkCount(of fields: [Field]) throws(CKError) {
        let most = FieldChanges.maximumCount
        guard fields.count > most else { return }
        throw .local(
            .invalidArguments,
            "Record '\(recordID.recordName)' has \(fields.count) fields, of which a record can have "
                + "\(most): spread them over records, or keep what is not queried in one."
        )
    }
}

extension CKShare {
    /// Checks that the root of a new share is saved with it (SHARE-2).
    fileprivate func checkRoot(isIn saved: Set<CKRecord.ID>) throws(CKError) {
        guard recordChangeTag == nil, let rootID = values.rootID, !saved.contains(rootID) else {
            return
        }
        throw .local(
            .invalidArguments,
            "Share '\(recordID.recordName)' is new, and its root record "
                + "'\(rootID.recordName)' is not saved with it: save both in one operation."
        )
    }
}

extension CKError {
    /// Creates the error of an item that stands in an operation twice.
    static func repeated(_ recordID: CKRecord.ID) -> CKError {
        .local(
            .invalidArguments,
            "Record '\(recordID.recordName)' is in the operation twice; save or delete "
                + "it once."
        )
    }

    /// Creates the error of an item whose atomic zone failed because of another (SAVE-15).
    static func batchFailed(in zoneID: CKRecordZone.ID) -> CKError {
        .local(
            .batchRequestFailed,
            "Another record of zone '\(zoneID.zoneName)' cannot be saved, and the zone's "
                + "changes are atomic."
        )
    }
}
