// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// The configuration of a sync engine.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/configuration>.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database to sync: the private or the shared one (SYNC-1).
        public var database: CKDatabase

        /// The state from the newest `stateUpdate` event; nil the first time (SYNC-3).
        public var stateSerialization: CKSyncEngine.State.Serialization?

        /// The app's delegate. The engine has only a weak reference to it.
        public var delegate: any CKSyncEngineDelegate

        /// Whether the engine syncs automatically; true by default (SYNC-5).
        ///
        /// If so, it sends soon after changes are added, fetches after a push, and tries again
        /// after temporary errors. If not, it syncs only when you call `fetchChanges(_:)` and
        /// `sendChanges(_:)`.
        public var automaticallySync: Bool

        /// The ID of the database subscription to use; it is created when it does not
        /// exist (SYNC-6).
        ///
        /// With nil, the default, the engine uses any database subscription that exists, or else
        /// creates one (SUB-67).
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
