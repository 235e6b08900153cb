// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension CKRecord {
    /// Returns the record of an answer: a ``CKShare`` where it is a share.
    ///
    /// - Parameter recordID: The ID as the app spelled it; nil takes the answer's.
    static func received(
        _ wire: WireRecord,
        recordID: CKRecord.ID? = nil,
        in database: DatabaseConnection
    ) throws(CKError) -> CKRecord {
        let recordID =
            recordID
            ?? CKRecord.ID(
                unchecked: wire.recordName,
                zoneID: database.zoneID(wire.zoneID)
            )
        let identity = Identity(recordType: wire.recordType, recordID: recordID)
        var state = State(
            server: ServerState(wire, in: database),
            parent: wire.parent.map { name in
                let parentID = CKRecord.ID(unchecked: name, zoneID: recordID.zoneID)
                return CKRecord.Reference(recordID: parentID, action: .none)
            },
            share: wire.shareReference(in: recordID.zoneID)
        )
        state.replaceValues(try Self.fields(of: wire, recordID: recordID, in: database))
        if case .share(let share) = wire.sharing {
            let sharing = CKShare.Sharing(share, in: wire.zoneID, of: database)
            return CKShare(identity, state: state, sharing: sharing, saved: sharing.copied())
        }
        return CKRecord(identity, state: state)
    }

    private static func fields(
        of wire: WireRecord,
        recordID: CKRecord.ID,
        in database: DatabaseConnection
    ) throws(CKError) -> [CKRecord.Field] {
        var fields: [CKRecord.Field] = []
        // An array that grows to ten is moved four times.
        fields.reserveCapacity(12)
        do {
            try wire.fields.forEach { name, field in
                let value = FieldValue(field.value, of: recordID, in: database)
                fields.append(
                    CKRecord.Field(
                        key: name,
                        value: value.moved(by: field.nanoseconds),
                        isEncrypted: field.isEncrypted
                    )
                )
            }
            return fields
        } catch {
            throw .local(
                .internalError,
                "The fields of record '\(wire.recordName)' cannot be read: \(error)"
            )
        }
    }

    /// Takes over what the server set in a save, and forgets the changes that were sent;
    /// what the app changed meanwhile stays changed (SAVE-29).
    func wasSaved(as wire: WireRecord, sending sent: SentRecord, in database: DatabaseConnection) {
        let server = ServerState(wire, in: database)
        let share = wire.shareReference(in: recordID.zoneID)
        if case .share(let share) = wire.sharing {
            (self as? CKShare)?.apply(
                CKShare.Sharing(share, in: wire.zoneID, of: database), sending: sent.sharing)
        }
        state.withLock { state in
            state.server = server
            state.share = share
            for field in sent.fields { state.forgetChange(field) }
            if state.parent?.recordID == sent.parent?.recordID {
                state.isParentChanged = false
            } else {
                // Changed again meanwhile: from here the sent one is what it was.
                state.originalParent = sent.parent
            }
        }
    }
}

extension WireRecord {
    /// The share of which the record is the root.
    fileprivate func shareReference(in zoneID: CKRecordZone.ID) -> CKReference? {
        guard case .root(let share?, _) = sharing else { return nil }
        return CKReference(
            recordID: CKRecord.ID(unchecked: share, zoneID: zoneID), action: .none)
    }
}

extension CKRecord.State {
    fileprivate mutating func forgetChange(_ sent: CKRecord.Field) {
        // A removal may stand on either side; a value stands on its own.
        plain.forgetChange(ofKey: sent.key, savedAs: sent.isEncrypted ? nil : sent.value)
        encrypted.forgetChange(ofKey: sent.key, savedAs: sent.isEncrypted ? sent.value : nil)
    }
}

/// What of a record goes to the server: taken once, so that it can be distinguished from what
/// the app changes while the save is under way.
struct SentRecord: Sendable {
    /// The change tag; nil for a record the server does not know.
    var recordChangeTag: String?
    /// The fields; removed ones without a value.
    var fields: [CKRecord.Field]
    /// The parent.
    var parent: CKRecord.Reference?
    /// The parent's name for the request; `.some(nil)` removes it, nil leaves it.
    var wireParent: String??
    /// What a share is beside a record.
    var sharing: CKShare.Sharing?

    /// Takes what a save under `policy` sends: all fields of a new record and under
    /// `allKeys`, else those that changed (SAVE-2, SAVE-3).
    init(_ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy) {
        recordChangeTag = record.recordChangeTag
        sharing = (record as? CKShare)?.values.copied()
        let isNew = policy == .ifServerRecordUnchanged && recordChangeTag == nil
        let changed = record.changedFields
        if isNew {
            fields = record.fields
        } else if policy == .allKeys {
            fields = record.fields + changed.filter { $0.value == nil }
        } else {
            fields = changed
        }
        parent = record.parent
        if record.isParentChanged {
            wireParent = .some(parent?.recordID.recordName)
        } else if let parent, isNew || policy == .allKeys {
            wireParent = .some(parent.recordID.recordName)
        }
    }
}

extension CKRecord.ServerState {
    /// What an answer holds about a record beside its fields.
    init(_ wire: WireRecord, in database: DatabaseConnection) {
        let (creator, modifier) = (wire.created.userRecordName, wire.modified.userRecordName)
        let creatorID = database.userRecordID(creator, zoneID: wire.zoneID)
        self.init(
            recordChangeTag: wire.recordChangeTag.isEmpty ? nil : wire.recordChangeTag,
            creationDate: Date(millisecondsSince1970: wire.created.timestamp),
            creatorUserRecordID: creatorID,
            modificationDate: Date(millisecondsSince1970: wire.modified.timestamp),
            // Mostly the same user, whose ID is a value.
            lastModifiedUserRecordID: modifier == creator
                ? creatorID : database.userRecordID(modifier, zoneID: wire.zoneID)
        )
    }
}

extension ModifyRecords.Operation {
    /// Creates the operation that saves a record (web-services 8, SAVE-1 to SAVE-3).
    ///
    /// Fails with `invalidArguments` for a value that cannot be sent.
    init(
        saving record: CKRecord,
        _ sent: SentRecord,
        _ policy: CKModifyRecordsOperation.RecordSavePolicy,
        in database: DatabaseConnection
    ) throws(CKError) {
        let known: ModifyRecords.OperationType = sent.recordChangeTag == nil ? .create : .update
        // Two who change who takes part must not undo each other (SAVE-5).
        let isChecked = policy == .ifServerRecordUnchanged || sent.sharing != nil
        let type = isChecked ? known : .forceUpdate
        var fields: [String: TidebellWire.Field?] = [:]
        for field in sent.fields {
            fields[field.key] = .some(try field.wire(of: record.recordID, in: database))
        }
        self.init(
            type,
            recordName: record.recordID.recordName,
            recordType: record.recordType,
            recordChangeTag: type == .update ? sent.recordChangeTag : nil,
            fields: FieldChanges(fields),
            parent: sent.wireParent,
            share: try sent.sharing?.wire(in: database) ?? ShareChanges()
        )
    }
}

extension CKRecord.Field {
    fileprivate func wire(
        of recordID: CKRecord.ID,
        in database: DatabaseConnection
    ) throws(CKError) -> TidebellWire.Field? {
        guard let value else { return nil }
        do {
            return TidebellWire.Field(
                try value.wire(in: recordID.zoneID, of: database),
                isEncrypted: isEncrypted,
                nanoseconds: value.nanoseconds
            )
        } catch {
            throw .local(
                .invalidArguments,
                "Field '\(key)' of record '\(recordID.recordName)' cannot be saved: "
                    + error.reason
            )
        }
    }
}
