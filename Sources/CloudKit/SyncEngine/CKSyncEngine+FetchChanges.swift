// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// Options for fetching changes.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones whose records are fetched.
        public enum Scope: Sendable, Equatable, CustomStringConvertible {
            /// All zones.
            case all
            /// All zones but these.
            case allExcluding([CKRecordZone.ID])
            /// These zones.
            case zoneIDs([CKRecordZone.ID])

            /// Returns whether records of a zone are fetched.
            public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
                switch self {
                case .all: true
                case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
                case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
                }
            }

            /// The scope as text, for logs.
            public var description: String {
                switch self {
                case .all: "all"
                case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
                case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
                }
            }
        }

        /// The zones whose records are fetched.
        public var scope: CKSyncEngine.FetchChangesOptions.Scope

        /// The group of the requests, for the server's log.
        public var operationGroup: CKOperationGroup

        /// The zones that are fetched first, in this order; zones without changes are skipped
        /// (SYNC-25).
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Creates options; without a group, a new one is made.
        public init(
            scope: CKSyncEngine.FetchChangesOptions.Scope = .all,
            operationGroup: CKOperationGroup? = nil
        ) {
            self.scope = scope
            self.operationGroup = operationGroup ?? .named("CKSyncEngine fetch")
        }

        /// The options as text, for logs.
        public var description: String {
            "<CKSyncEngine.FetchChangesOptions: scope=\(scope), "
                + "prioritizedZoneIDs=\(prioritizedZoneIDs)>"
        }
    }

    /// An attempt to fetch changes.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// Why it was started.
        public let reason: CKSyncEngine.SyncReason

        /// The options it was started with.
        public let options: CKSyncEngine.FetchChangesOptions

        /// The context as text, for logs.
        public var description: String {
            "<CKSyncEngine.FetchChangesContext: reason=\(reason), options=\(options)>"
        }
    }

    /// Why a sync was started (SYNC-26).
    public enum SyncReason: Sendable, Equatable, Hashable, CustomStringConvertible {
        /// The engine started it.
        case scheduled
        /// The app started it with `fetchChanges(_:)` or `sendChanges(_:)`.
        case manual

        /// The reason as text, for logs.
        public var description: String { self == .scheduled ? "scheduled" : "manual" }
    }
}

extension CKOperationGroup {
    /// Returns a new group of a name.
    static func named(_ name: String) -> CKOperationGroup {
        let group = CKOperationGroup()
        group.name = name
        return group
    }
}
