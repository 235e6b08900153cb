// SPDX-License-Identifier: Apache-2.0

/// The sync engines of the process, by their delegates: an engine that is made to replace
/// another goes on with what that one knows (SYNC-1).
///
/// Apps make an engine twice without meaning to, as when one is made lazily and another
/// soon after launch. With two working halves, what was added to one since its last state
/// update would be missing in the other.
enum LivingSyncEngines {
    private static let engines = Locked<[ObjectIdentifier: [WeakSyncEngine]]>([:])

    /// Returns the engine that one of this configuration replaces, if any.
    static func engine(replacedBy configuration: CKSyncEngine.Configuration) -> CKSyncEngine? {
        let delegateID = ObjectIdentifier(configuration.delegate)
        // Held outside the lock, which the end of an engine takes.
        let known = engines.withLock { $0[delegateID, default: []].map(\.engine) }
        return known.last { $0?.core.goesOn(with: configuration) ?? false } ?? nil
    }

    /// Has the engines of a database look for changes soon: sharing changed there by another way
    /// than theirs, and no push reports that to the device that did it (SHARE-26).
    ///
    /// - Parameter zoneIDs: Zones that changed, where the list of changed zones has them only later.
    static func noteSharingChange(
        in database: DatabaseConnection, zoneIDs: Set<CKRecordZone.ID> = []
    ) {
        // Held outside the lock, which the end of an engine takes.
        let known = engines.withLock { $0.values.flatMap { $0.map(\.engine) } }
        for core in known.compactMap({ $0?.core })
        where core.database.connection.isSame(as: database) {
            core.noteSharingChange(in: zoneIDs)
        }
    }

    /// Notes an engine.
    static func add(_ engine: CKSyncEngine) {
        engines.withLock { engines in
            engines[engine.core.delegateID, default: []].append(WeakSyncEngine(engine))
        }
    }

    /// Forgets an engine that ends.
    static func remove(_ engine: ObjectIdentifier, of delegateID: ObjectIdentifier) {
        engines.withLock { engines in
            engines[delegateID]?.removeAll { $0.id == engine }
            if engines[delegateID]?.isEmpty ?? false { engines[delegateID] = nil }
        }
    }
}

/// An engine as long as the app keeps it.
struct WeakSyncEngine: Sendable {
    /// What distinguishes it from all others, also while it ends.
    let id: ObjectIdentifier
    /// The engine.
    private(set) weak var engine: CKSyncEngine?

    init(_ engine: CKSyncEngine) {
        id = ObjectIdentifier(engine)
        self.engine = engine
    }
}
