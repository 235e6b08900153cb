// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellWire

/// A write needs the store's lock alone, which it has to have before any other.
struct NeedsStore: Error {}

/// Takes the lock of each step's scope, until the transaction ends.
///
/// Advisory locks, which need no row: of an account or database that a step makes there is none
/// yet. All take the store's in common, and `everything` and `batch`, which reach into scopes that only reading
/// finds, take it alone. What a step reads after it has the lock it reads as of now (READ COMMITTED), so that
/// steps of one scope run as if one after the other.
final class ScopeLocks: StepScopes {
    /// The key of the store's lock: "TDBL" and a number.
    static let store: Int64 = 0x5444_424C_0000_0003

    private let connection: PostgresConnection
    private var taken: Set<Int64> = []
    /// Whether the store's lock is taken, and alone.
    private var holdsStore: Bool?
    /// Whether a write needs the store's lock alone that does not have it.
    private(set) var wantsStore = false
    /// How many round trips there had been when locks were asked for last.
    private var askedAt: Int?
    /// Whether it is not known yet that all locks were taken which were asked for.
    var areUnwaited: Bool { askedAt == connection.roundTrips }

    /// Takes locks on a connection.
    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Others write at the same time: other lanes, or nodes.
    var areTogether: Bool { false }

    /// Notes that the transaction ended, and its locks with it.
    func forget() {
        taken = []
        holdsStore = nil
        wantsStore = false
    }

    func begin(_ scope: StoreScope, in reader: some SQLReading) throws {
        // Whoever holds the whole store needs no more.
        guard holdsStore != true else { return }
        guard let keys = try keys(of: scope, in: reader) else {
            guard holdsStore == nil else {
                wantsStore = true
                throw NeedsStore()
            }
            reader.connection.memory?.forget()
            return takeStore()
        }
        if holdsStore == nil {
            ask("SELECT pg_advisory_xact_lock_shared($1)", .int64(Self.store))
            holdsStore = false
        }
        let wanted = keys.filter { taken.insert($0).inserted }
        guard !wanted.isEmpty else { return }
        // What an earlier write of the transaction read without the lock may have changed since.
        reader.connection.memory?.forget()
        ask("SELECT pg_advisory_xact_lock(key) FROM unnest($1) AS key", .int64Array(wanted))
    }

    private func ask(_ sql: String, _ keys: PostgresValue) {
        connection.enqueue(sql, [keys])
        askedAt = connection.roundTrips
    }

    /// Whether a statement is one that takes locks.
    static func isLock(_ sql: String?) -> Bool {
        sql?.hasPrefix("SELECT pg_advisory_xact_lock") == true
    }

    func end() {}

    /// Only notes it: whoever has the store's lock in common and wanted it alone would wait for others that want
    /// the same.
    func waitForOthers() {
        if holdsStore != true { wantsStore = true }
    }

    /// Takes the lock of the store alone, before any other: whoever has it in common and waited for it would wait for
    /// others that do the same.
    func takeStore() {
        ask("SELECT pg_advisory_xact_lock($1)", .int64(Self.store))
        holdsStore = true
    }

    /// The keys of a scope's locks; nil for those that need all of the store.
    private func keys(of scope: StoreScope, in reader: some SQLReading) throws -> [Int64]? {
        switch scope {
        case .looking, .uses: []
        // In the order in which passes append to logs, so that nobody waits for who waits for them.
        case .users(let users):
            users.sorted { $0.rawValue < $1.rawValue }.map(Self.key(of:))
        default:
            try Self.key(of: scope) {
                try reader.connection.guesses?.key(of: $0) ?? reader.database(id: $0)?.key
            }.map { [$0] }
        }
    }

    /// The key of a scope's lock; nil for those that need all of the store, or have several.
    ///
    /// Two scopes with the same key wait for each other, no more.
    ///
    /// - Parameter find: Finds what the ID of a database stands for, which never changes.
    static func key(
        of scope: StoreScope, _ find: (DatabaseID) throws -> DatabaseKey?
    ) rethrows -> Int64? {
        switch scope {
        case .everything, .batch, .looking, .uses, .users: nil
        case .store: key("store")
        case .catalogue(let container):
            key("catalogue", container.container, container.environment.rawValue)
        case .account(let id): key("account", id.map { "\($0.rawValue)" } ?? "")
        case .user(let id): key(of: id)
        case .database(let database): key(of: database)
        case .databaseWithID(let id):
            try find(id).map { key(of: $0) } ?? key("database", "\(id.rawValue)")
        }
    }

    /// The key of a user's lock.
    static func key(of user: UserID) -> Int64 { key("user", "\(user.rawValue)") }

    /// The key of a database's lock.
    static func key(of database: DatabaseKey) -> Int64 {
        key(
            "database", database.container.container, database.container.environment.rawValue,
            database.scope.rawValue, database.owner.map { "\($0.rawValue)" } ?? "")
    }

    /// FNV-1a of the parts, each with its end.
    static func key(_ parts: String...) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return Int64(bitPattern: hash)
    }
}
