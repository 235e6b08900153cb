// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKSyncEngine {
    /// The state of a sync engine: pending changes, and which changes it has fetched.
    ///
    /// It can be used on any thread, and in the delegate's methods.
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/state-swift.class>.
    public final class State: Sendable {
        private struct Stored {
            var values: SyncState
            /// Whether the app has not been given the newest values.
            var isDirty = false
            /// What the app may have kept: what it was given last or gave itself, and what
            /// it is being given.
            var kept: [Serialization?]
            /// The listener to notify when the app changes something.
            weak var listener: (any SyncStateListener)?
        }

        private let stored: Locked<Stored>

        /// Creates the state a serialization stands for; nil is an empty one.
        init(_ serialization: Serialization?) {
            let values = serialization?.values ?? SyncState()
            stored = Locked(Stored(values: values, kept: [serialization]))
        }

        /// The pending changes of records, in the order they were added (SYNC-19).
        ///
        /// The engine removes changes that were sent, and changes that failed permanently
        /// (SYNC-20).
        public var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
            stored.withLock { $0.values.pendingRecords }.changes
        }

        /// The pending changes of zones, in the order they were added.
        public var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
            stored.withLock { $0.values.pendingZones }.changes
        }

        /// Whether there are changes to send that only the app knows of (SYNC-24).
        ///
        /// After it is set to true, the engine soon asks the delegate for them. Only the app
        /// changes the value.
        public var hasPendingUntrackedChanges: Bool {
            get { stored.withLock { $0.values.hasPendingUntrackedChanges } }
            set {
                change(wantsSend: newValue) { state in
                    guard state.hasPendingUntrackedChanges != newValue else { return false }
                    state.hasPendingUntrackedChanges = newValue
                    return true
                }
            }
        }

        /// The zones that are known to have changes that were not fetched yet (SYNC-7).
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            stored.withLock { $0.values.unfetchedZoneIDs }
        }

        /// Adds changes of records; the engine sends them soon (SYNC-19).
        ///
        /// There is one pending change for each record: a save replaces an earlier deletion of the
        /// same record, and vice versa.
        public func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
            guard !pendingRecordZoneChanges.isEmpty else { return }
            change(wantsSend: true) { state in
                pendingRecordZoneChanges.reduce(false) { state.pendingRecords.add($1) || $0 }
            }
        }

        /// Removes pending changes of records.
        public func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
            change(wantsSend: false) { state in
                pendingRecordZoneChanges.reduce(false) { state.pendingRecords.remove($1) || $0 }
            }
        }

        /// Adds changes of zones; the engine sends them soon, before all records (SYNC-13).
        ///
        /// There is one pending change for each zone: a save replaces an earlier deletion of the
        /// same zone, and vice versa.
        public func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
            guard !pendingDatabaseChanges.isEmpty else { return }
            change(wantsSend: true) { state in
                pendingDatabaseChanges.reduce(false) { state.pendingZones.add($1) || $0 }
            }
        }

        /// Removes pending changes of zones.
        public func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
            change(wantsSend: false) { state in
                pendingDatabaseChanges.reduce(false) { state.pendingZones.remove($1) || $0 }
            }
        }

        private func change(wantsSend: Bool, _ body: (inout SyncState) -> Bool) {
            let (listener, isNews) = stored.withLock { stored in
                let isNews = body(&stored.values)
                stored.isDirty = stored.isDirty || isNews
                return (stored.listener, isNews)
            }
            listener?.stateChanged(isNews: isNews, wantsSend: wantsSend)
        }
    }
}

/// A listener that is notified of what the app changes in a sync engine's state.
protocol SyncStateListener: AnyObject, Sendable {
    /// The app changed the state.
    ///
    /// - Parameters:
    ///   - isNews: Whether anything is different now.
    ///   - wantsSend: Whether something is to be sent.
    func stateChanged(isNews: Bool, wantsSend: Bool)
}

// What the engine does with its state.
extension CKSyncEngine.State {
    /// The state as it is now.
    var values: SyncState { stored.withLock { $0.values } }

    /// Sets the listener to notify of what the app changes.
    func setListener(_ listener: any SyncStateListener) {
        stored.withLock { $0.listener = listener }
    }

    /// Changes the state on the engine's behalf; the app gets it with the next update.
    func update<Result>(_ body: (inout SyncState) -> Result) -> Result {
        stored.withLock { stored in
            stored.isDirty = true
            return body(&stored.values)
        }
    }

    /// Returns the state for the app to keep; nil when the app has the newest one.
    func takeUpdate() -> Serialization? {
        stored.withLock { stored in
            guard stored.isDirty else { return nil }
            stored.isDirty = false
            let serialization = Serialization(stored.values)
            stored.kept.append(serialization)
            return serialization
        }
    }

    /// Notes that the app has handled the update it was given.
    func noteTaken() {
        stored.withLock { $0.kept.removeFirst($0.kept.count - 1) }
    }

    /// Whether the app may have kept this one of all states it was given.
    func mayBeKept(_ serialization: Serialization?) -> Bool {
        stored.withLock { $0.kept }.contains { $0?.bytes == serialization?.bytes }
    }
}

extension CKSyncEngine.State {
    /// A sync engine's state in a form that can be stored (SYNC-3).
    ///
    /// It uses no time until it is encoded.
    public struct Serialization: Codable, Sendable {
        /// The name of the one value, which is an ``ArchiveBlob``.
        private enum CodingKeys: String, CodingKey {
            case data
        }

        /// The state.
        let values: SyncState

        /// Takes a state as it is.
        init(_ values: SyncState) {
            self.values = values
        }

        /// Reads a state; fails when it is damaged.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let data = try container.decode(Data.self, forKey: .data)
            do {
                values = try ArchiveBlob.value(SyncState.self, from: [UInt8](data))
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .data,
                    in: container,
                    debugDescription: "This is not the state of a sync engine: \(error)."
                )
            }
        }

        /// Writes the state.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(Data(bytes), forKey: .data)
        }

        /// The state as it is kept; the same state has the same bytes.
        fileprivate var bytes: [UInt8] { ArchiveBlob.bytes(of: values) }
    }
}
