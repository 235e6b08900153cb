// SPDX-License-Identifier: Apache-2.0

// The events of sending (SYNC-13).
extension CKSyncEngine.Event {
    /// An attempt to send begins; `didSendChanges` follows when it has ended.
    public struct WillSendChanges: Sendable, CustomStringConvertible {
        /// The attempt: its reason and its options.
        public let context: CKSyncEngine.SendChangesContext

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.WillSendChanges: context=\(context)>"
        }
    }

    /// The results for the zones that were sent (SYNC-16).
    public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
        /// A zone that was not saved.
        public struct FailedZoneSave: Sendable, CustomStringConvertible {
            /// The zone.
            public let zone: CKRecordZone

            /// Why it was not saved.
            public let error: CKError

            /// The zone and the error as text, for logs.
            public var description: String {
                "<FailedZoneSave: zoneID=\(zone.zoneID), error=\(error._nsError)>"
            }
        }

        /// The zones that were saved.
        public let savedZones: [CKRecordZone]

        /// The zones that were not saved.
        public let failedZoneSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave]

        /// The zones that do not exist any more.
        public let deletedZoneIDs: [CKRecordZone.ID]

        /// The zones that were not deleted, and why.
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.SentDatabaseChanges: savedZones=\(savedZones.map(\.zoneID)), "
                + "failedZoneSaves=\(failedZoneSaves), deletedZoneIDs=\(deletedZoneIDs), "
                + "failedZoneDeletes=\(failedZoneDeletes.mapValues(\._nsError))>"
        }
    }

    /// What became of a batch of records (SYNC-16).
    ///
    /// What failed stays pending when trying again can help: the network, the server or
    /// the account were not there, the change was held up by another of its atomic zone,
    /// or the user's quota is used up (SYNC-20); and whenever the request failed as a whole,
    /// which shows nothing about its changes. All else is not pending any more; add it again
    /// once the cause is gone (SYNC-27).
    // NB: Apple's engine forgets changes that failed with batchRequestFailed or
    // quotaExceeded (SYNC-21); ours does not.
    public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
        /// A record that was not saved.
        public struct FailedRecordSave: Sendable, CustomStringConvertible {
            /// The record as it was sent.
            public let record: CKRecord

            /// Why it was not saved.
            public let error: CKError

            /// The record and the error as text, for logs.
            public var description: String {
                "<FailedRecordSave: recordID=\(record.recordID), error=\(error._nsError)>"
            }
        }

        /// The records that were saved, with the server's change tags and dates; store their system
        /// fields.
        public let savedRecords: [CKRecord]

        /// The records that were not saved.
        public let failedRecordSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave]

        /// The records that were deleted.
        public let deletedRecordIDs: [CKRecord.ID]

        /// The records that were not deleted, and why.
        public let failedRecordDeletes: [CKRecord.ID: CKError]

        /// The event as text, for logs; no values.
        public var description: String {
            "<CKSyncEngine.Event.SentRecordZoneChanges: "
                + "savedRecords=\(savedRecords.map(\.recordID)), "
                + "failedRecordSaves=\(failedRecordSaves), deletedRecordIDs=\(deletedRecordIDs), "
                + "failedRecordDeletes=\(failedRecordDeletes.mapValues(\._nsError))>"
        }
    }

    /// An attempt to send has ended, successfully or not; one for each `willSendChanges`.
    public struct DidSendChanges: Sendable, CustomStringConvertible {
        /// The attempt: its reason and its options.
        public let context: CKSyncEngine.SendChangesContext

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.DidSendChanges: context=\(context)>"
        }
    }
}
