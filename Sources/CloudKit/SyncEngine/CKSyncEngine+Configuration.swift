// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// What a sync engine is made of.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/configuration>.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database to sync: the private or the shared one (SYNC-1).
        public var database: CKDatabase

        /// The state of the newest `stateUpdate` event; nil the first time (SYNC-3).
        public var stateSerialization: CKSyncEngine.State.Serialization?

        /// The app's part. The engine keeps it weakly: keep it yourself.
        public var delegate: any CKSyncEngineDelegate

        /// Whether the engine syncs by itself; true by default (SYNC-5).
        ///
        /// If so, it sends soon after changes are added, fetches when a push reports that
        /// something changed, and tries again after errors that pass. If not, it does
        /// nothing but what `fetchChanges(_:)` and `sendChanges(_:)` ask for.
        public var automaticallySync: Bool

        /// The ID of the database subscription to use; it is created when it does not
        /// exist (SYNC-6).
        ///
        /// Nil, the default: any database subscription that exists, else one of the
        /// engine's own (SUB-67).
        public var subscriptionID: CKSubscription.ID?

        /// Creates a configuration with automatic sync.
        public init(
            database: CKDatabase,
            stateSerialization: CKSyncEngine.State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
            automaticallySync = true
        }

        /// The configuration as text, for logs.
        public var description: String {
            "<CKSyncEngine.Configuration: database=\(database.databaseScope), "
                + "automaticallySync=\(automaticallySync), "
                + "subscriptionID=\(subscriptionID ?? "nil"), "
                + "hasState=\(stateSerialization != nil)>"
        }
    }
}
