// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// An event during a sync (SYNC-9).
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/event>.
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine's state changed; store it.
        case stateUpdate(CKSyncEngine.Event.StateUpdate)
        /// Another user signed in, or the user signed out.
        case accountChange(CKSyncEngine.Event.AccountChange)
        /// Zones changed on the server.
        case fetchedDatabaseChanges(CKSyncEngine.Event.FetchedDatabaseChanges)
        /// Records changed on the server.
        case fetchedRecordZoneChanges(CKSyncEngine.Event.FetchedRecordZoneChanges)
        /// Zones were sent; some may have failed.
        case sentDatabaseChanges(CKSyncEngine.Event.SentDatabaseChanges)
        /// Records were sent; some may have failed.
        case sentRecordZoneChanges(CKSyncEngine.Event.SentRecordZoneChanges)
        /// A fetch begins.
        case willFetchChanges(CKSyncEngine.Event.WillFetchChanges)
        /// The fetch of a zone begins.
        case willFetchRecordZoneChanges(CKSyncEngine.Event.WillFetchRecordZoneChanges)
        /// The fetch of a zone has ended.
        case didFetchRecordZoneChanges(CKSyncEngine.Event.DidFetchRecordZoneChanges)
        /// A fetch has ended.
        case didFetchChanges(CKSyncEngine.Event.DidFetchChanges)
        /// An attempt to send begins.
        case willSendChanges(CKSyncEngine.Event.WillSendChanges)
        /// An attempt to send has ended.
        case didSendChanges(CKSyncEngine.Event.DidSendChanges)

        /// The event as text, for logs; no values of records.
        public var description: String { "\(details)" }

        private var details: any CustomStringConvertible {
            switch self {
            case .stateUpdate(let event): event
            case .accountChange(let event): event
            case .fetchedDatabaseChanges(let event): event
            case .fetchedRecordZoneChanges(let event): event
            case .sentDatabaseChanges(let event): event
            case .sentRecordZoneChanges(let event): event
            case .willFetchChanges(let event): event
            case .willFetchRecordZoneChanges(let event): event
            case .didFetchRecordZoneChanges(let event): event
            case .didFetchChanges(let event): event
            case .willSendChanges(let event): event
            case .didSendChanges(let event): event
            }
        }
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    ///
    /// Store it together with the records that were fetched before it, and pass the newest state to
    /// the next engine (SYNC-3, SYNC-4).
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// The whole state.
        public let stateSerialization: CKSyncEngine.State.Serialization

        /// The event as text, for logs.
        public var description: String { "<CKSyncEngine.Event.StateUpdate>" }
    }

    /// The signed-in user is not the user of the engine's state any more (SYNC-17).
    ///
    /// After a sign-out or a switch, the engine has removed its whole state of the previous user,
    /// including pending changes. Several changes while the app did not run are one event.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// What can happen to the account.
        public enum ChangeType: Sendable, Equatable {
            /// A user signed in, and there was none before. Changes that were added before stay
            /// pending.
            case signIn(currentUser: CKRecord.ID)
            /// The user signed out; delete the user's local data.
            case signOut(previousUser: CKRecord.ID)
            /// Another user signed in; delete the local data of the previous user.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
        }

        /// What happened.
        public let changeType: CKSyncEngine.Event.AccountChange.ChangeType

        /// The event as text, for logs.
        public var description: String {
            "<CKSyncEngine.Event.AccountChange: changeType=\(changeType)>"
        }
    }
}
