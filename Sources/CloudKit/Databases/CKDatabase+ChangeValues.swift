// SPDX-License-Identifier: Apache-2.0

extension CKDatabase {
    /// What can happen to zones.
    public enum DatabaseChange {
        /// A zone that is new or has changes.
        public struct Modification: Sendable, Hashable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// A zone that was deleted.
        public struct Deletion: Sendable, Hashable {
            /// Why a zone was deleted.
            public enum Reason: Sendable, Hashable {
                /// A device deleted it.
                case deleted
                /// The user purged it in the system settings; delete local data and do not upload
                /// it again (TOK-9).
                case purged
                /// The user reset the account's encrypted data; upload your local data again
                /// (TOK-10).
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID

            /// Why it was deleted.
            public let reason: CKDatabase.DatabaseChange.Deletion.Reason

            /// Whether the user purged the zone in the system settings.
            @available(*, deprecated, message: "Compare the reason.")
            public var purged: Bool { reason == .purged }
        }
    }

    /// What can happen to the records of a zone.
    public enum RecordZoneChange {
        /// A record that is new or changed. Values compare by the identity of the record.
        public struct Modification: Sendable, Hashable {
            /// The record in its newest state.
            public let record: CKRecord
        }

        /// A record that was deleted.
        public struct Deletion: Sendable, Hashable {
            /// The record's ID.
            public let recordID: CKRecord.ID

            /// The record's type (TOK-14).
            public let recordType: CKRecord.RecordType
        }
    }
}

@available(*, unavailable)
extension CKDatabase.DatabaseChange: Sendable {}

@available(*, unavailable)
extension CKDatabase.RecordZoneChange: Sendable {}
