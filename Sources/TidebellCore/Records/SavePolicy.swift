// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What each type of operation demands of the version on the server (SAVE-28),
/// and what it makes of it.
enum SavePolicy {
    /// Fails where the operation cannot be applied to what exists.
    ///
    /// `serverRecord` builds the version that a conflict's error carries
    /// (SAVE-6); nil where the caller may not read it.
    static func check(
        _ operation: ModifyRecords.Operation, against existing: StoredRecord?, limits: Limits,
        serverRecord: (StoredRecord) throws -> WireRecord?
    ) throws {
        guard let existing else {
            guard operation.type.needsChangeTag else { return }
            // SAVE-9: the record this version belonged to was deleted.
            throw WireError(.notFound, "Record not found")
        }
        if operation.type == .create {
            // SAVE-8
            throw WireError(
                .exists, "record to insert already exists",
                detail: WireError.Detail(
                    ckCode: limits.existingRecords.ckErrorCode,
                    serverRecord: try serverRecord(existing)
                )
            )
        }
        guard
            !operation.type.needsChangeTag
                || operation.recordChangeTag == existing.position.changeTag
        else {
            // SAVE-2
            throw WireError(
                .conflict, "client oplock error updating record",
                detail: WireError.Detail(serverRecord: try serverRecord(existing))
            )
        }
    }

    /// Returns the fields after the changes: those the changes do not name stay
    /// (SAVE-3), nil removes (SAVE-12).
    static func merge(
        _ changes: [String: Field?], over previous: StoredRecord?
    ) throws -> [String: Field] {
        var fields = try previous?.fields.decoded() ?? [:]
        for (name, field) in changes { fields[name] = field }
        return fields
    }
}
