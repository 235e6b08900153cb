// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellWire

/// Takes the lock of each step's scope, until the transaction ends.
///
/// Advisory locks, which need no row: of an account or database that a step makes there is none
/// yet. All take the store's in common, and `everything` and `batch`, which reach into scopes that only reading
/// finds, take it alone. What a step reads after it has the lock it reads as of now (READ COMMITTED), so that
/// steps of one scope run as if one after the other.
final class ScopeLocks: StepScopes {
    /// The key of the store's lock: "TDBL" and a number.
    private static let store: Int64 = 0x5444_424C_0000_0003

    private let connection: PostgresConnection
    private var taken: Set<Int64> = []
    /// Whether the store's lock is taken, and alone.
    private var holdsStore: Bool?

    /// Takes locks on a connection.
    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Notes that the transaction ended, and its locks with it.
    func forget() {
        taken = []
        holdsStore = nil
    }

    func begin(_ scope: StoreScope, in reader: some SQLReading) throws {
        // Whoever holds the whole store needs no more.
        guard holdsStore != true else { return }
        guard let key = try key(of: scope, in: reader) else {
            reader.connection.memory?.forget()
            connection.enqueue("SELECT pg_advisory_xact_lock($1)", [.int64(Self.store)])
            return holdsStore = true
        }
        if holdsStore == nil {
            connection.enqueue("SELECT pg_advisory_xact_lock_shared($1)", [.int64(Self.store)])
            holdsStore = false
        }
        guard taken.insert(key).inserted else { return }
        // What an earlier write of the transaction read without the lock may have changed since.
        reader.connection.memory?.forget()
        connection.enqueue("SELECT pg_advisory_xact_lock($1)", [.int64(key)])
    }

    func end() {}

    /// The key of a scope's lock; nil for those that need all of the store.
    ///
    /// Two scopes with the same key wait for each other, no more.
    private func key(of scope: StoreScope, in reader: some SQLReading) throws -> Int64? {
        switch scope {
        case .everything, .batch: nil
        case .store: Self.key("store")
        case .catalogue(let container):
            Self.key("catalogue", container.container, container.environment.rawValue)
        case .account(let id): Self.key("account", id.map { "\($0.rawValue)" } ?? "")
        case .user(let id): Self.key("user", "\(id.rawValue)")
        case .database(let key): Self.key(of: key)
        case .databaseWithID(let id):
            // What an ID stands for never changes.
            try reader.database(id: id).map { Self.key(of: $0.key) }
                ?? Self.key("database", "\(id.rawValue)")
        }
    }

    private static func key(of database: DatabaseKey) -> Int64 {
        key(
            "database", database.container.container, database.container.environment.rawValue,
            database.scope.rawValue, database.owner.map { "\($0.rawValue)" } ?? "")
    }

    /// FNV-1a of the parts, each with its end.
    private static func key(_ parts: String...) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return Int64(bitPattern: hash)
    }
}
