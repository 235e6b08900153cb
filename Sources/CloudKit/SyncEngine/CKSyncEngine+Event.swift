// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// Something that happens in the course of a sync (SYNC-9).
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/event>.
    public enum Event: Sendable, CustomStringConvertible {
        /// The engine's state changed; keep it.
        case stateUpdate(CKSyncEngine.Event.StateUpdate)
        /// Another user is signed in, or nobody.
        case accountChange(CKSyncEngine.Event.AccountChange)
        /// Zones changed on the server.
        case fetchedDatabaseChanges(CKSyncEngine.Event.FetchedDatabaseChanges)
        /// Records changed on the server.
        case fetchedRecordZoneChanges(CKSyncEngine.Event.FetchedRecordZoneChanges)
        /// Zones were saved and deleted, or could not be.
        case sentDatabaseChanges(CKSyncEngine.Event.SentDatabaseChanges)
        /// Records were saved and deleted, or could not be.
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
    /// Keep it together with what was fetched before it, and give the newest one to the
    /// next engine (SYNC-3, SYNC-4).
    public struct StateUpdate: Sendable, CustomStringConvertible {
        /// The whole state.
        public let stateSerialization: CKSyncEngine.State.Serialization

        /// The event as text, for logs.
        public var description: String { "<CKSyncEngine.Event.StateUpdate>" }
    }

    /// Another user is signed in than the state is of, or nobody (SYNC-17).
    ///
    /// When a user went, the engine has forgotten everything about them, pending changes
    /// too. Several changes while the app did not run are one event.
    public struct AccountChange: Sendable, CustomStringConvertible {
        /// What can happen to the account.
        public enum ChangeType: Sendable, Equatable {
            /// A user signed in where none was known. Changes that were added before
            /// stay pending.
            case signIn(currentUser: CKRecord.ID)
            /// The user signed out; delete what you keep of them.
            case signOut(previousUser: CKRecord.ID)
            /// Another user signed in; delete what you keep of the previous one.
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
