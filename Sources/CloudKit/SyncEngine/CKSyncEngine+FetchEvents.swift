// SPDX-License-Identifier: Apache-2.0

// The events of a fetch, in the order in which they come (SYNC-11).
extension CKSyncEngine.Event {
    /// A fetch begins; `didFetchChanges` follows when it has ended.
    public struct WillFetchChanges: Sendable, CustomStringConvertible {
        /// The attempt: its reason and its options.
        public let context: CKSyncEngine.FetchChangesContext

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.WillFetchChanges: context=\(context)>"
        }
    }

    /// Zones changed on the server; one event for each page.
    public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
        /// The zones that are new or have changes.
        public let modifications: [CKDatabase.DatabaseChange.Modification]

        /// The zones that were deleted, and why (SYNC-15).
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.FetchedDatabaseChanges: "
                + "modifications=\(modifications.map(\.zoneID)), "
                + "deletions=\(deletions.map(\.zoneID))>"
        }
    }

    /// The fetch of a zone's records begins.
    public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.WillFetchRecordZoneChanges: zoneID=\(zoneID)>"
        }
    }

    /// Records changed on the server; one event for each page, usually oldest changes first
    /// (SYNC-14).
    public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The records that are new or changed.
        public let modifications: [CKDatabase.RecordZoneChange.Modification]

        /// The records that were deleted.
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]

        /// The event as text, for logs; no values.
        public var description: String {
            "<CKSyncEngine.Event.FetchedRecordZoneChanges: "
                + "modifications=\(modifications.map(\.record.recordID)), "
                + "deletions=\(deletions.map(\.recordID))>"
        }
    }

    /// The fetch of a zone's records has ended.
    public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
        /// The zone.
        public let zoneID: CKRecordZone.ID

        /// The error that ended it early; nil if all changes were fetched.
        public let error: CKError?

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.DidFetchRecordZoneChanges: zoneID=\(zoneID), "
                + "error=\(error.map { "\($0._nsError)" } ?? "nil")>"
        }
    }

    /// A fetch has ended, successfully or not; one for each `willFetchChanges`.
    public struct DidFetchChanges: Sendable, CustomStringConvertible {
        /// The attempt: its reason and its options.
        public let context: CKSyncEngine.FetchChangesContext

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.DidFetchChanges: context=\(context)>"
        }
    }
}
