// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a caller may do with the records of a zone.
package enum ZoneRights: Sendable, Hashable {
    /// All records are read and written.
    case readWrite
    /// All records are read, everybody who is signed in creates some, and a record is
    /// changed by its creator alone (ACCT-7).
    case creatorWrites

    /// Fails unless a user may save something over a record, or delete it.
    func checkWriting(over record: StoredRecord, by user: StoredUser) throws {
        switch self {
        case .readWrite: return
        case .creatorWrites:
            guard record.created.userRecordName != user.recordName else { return }
            throw WireError(
                .accessDenied,
                "WRITE operation not permitted: record '\(record.name)' was created by another "
                    + "user"
            )
        }
    }
}
