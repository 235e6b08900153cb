// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// Options for sending changes.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// Which changes are sent.
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All changes.
            case all
            /// All changes except those in these zones.
            case allExcluding([CKRecordZone.ID])
            /// Changes in these zones.
            case zoneIDs([CKRecordZone.ID])
            /// Changes of these records.
            case recordIDs([CKRecord.ID])

            /// Returns whether changes of a record are sent.
            public func contains(_ recordID: CKRecord.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains(recordID)
                }
            }

            /// Returns whether a change is sent.
            public func contains(_ pendingChange: CKSyncEngine.PendingRecordZoneChange) -> Bool {
                contains(pendingChange.itemID)
            }

            /// Returns whether the zone itself is saved or deleted: with a scope of
            /// records, the zones they are in.
            func contains(zone zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
                case .recordIDs(let recordIDs): recordIDs.contains { $0.zoneID == zoneID }
                }
            }

            /// The scope as text, for logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
                case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
                case .recordIDs(let recordIDs): "recordIDs(\(recordIDs))"
                }
            }
        }

        /// Which changes are sent.
        public var scope: CKSyncEngine.SendChangesOptions.Scope

        /// The group of the requests, for the server's log.
        public var operationGroup: CKOperationGroup

        /// Creates options; without a group, a new one is made.
        public init(
            scope: CKSyncEngine.SendChangesOptions.Scope = .all,
            operationGroup: CKOperationGroup? = nil
        ) {
            self.scope = scope
            self.operationGroup = operationGroup ?? .named("CKSyncEngine send")
        }

        /// The options as text, for logs.
        public var description: String { "<CKSyncEngine.SendChangesOptions: scope=\(scope)>" }
    }

    /// An attempt to send changes.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// Why it was started.
        public let reason: CKSyncEngine.SyncReason

        /// The options it was started with.
        public let options: CKSyncEngine.SendChangesOptions

        /// The context as text, for logs.
        public var description: String {
            "<CKSyncEngine.SendChangesContext: reason=\(reason), options=\(options)>"
        }
    }
}
