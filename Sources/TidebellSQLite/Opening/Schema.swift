// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellScheduling

/// The tables, and how a file is known to have them.
enum Schema {
    /// `application_id` of a store: "TDBL".
    static let applicationID = 0x5444_424C
    /// `user_version` of a store with ``tables`` as they stand: they are frozen. Stores of
    /// older versions are brought to it whole (``migrate(_:from:)``); what came after are
    /// ``SchemaSteps``.
    static let frozenVersion = 6
    /// `user_version` of a store this code reads and writes.
    static let version = SchemaSteps.released.version

    /// Checks the file and creates the tables if it is empty; returns the
    /// store's identity.
    ///
    /// A plain connection does it, not the pool, which would first turn whatever
    /// it opens to WAL mode.
    static func prepare(
        at path: String, _ configuration: Configuration, _ randomness: Randomness
    ) throws -> UInt64 {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        var identity: UInt64?
        var isOutdated = false
        try queue.inTransaction(.immediate) { database in
            identity = try prepare(database, path: path, randomness)
            isOutdated = (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0) < version
            return .commit
        }
        if isOutdated { try SchemaSteps.released.apply(to: queue) }
        try queue.close()
        guard let identity else {
            throw StoreOpenError.damaged(path: path, reason: "the store's identity is missing")
        }
        return identity
    }

    private static func prepare(
        _ database: Database, path: String, _ randomness: Randomness
    ) throws -> UInt64? {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id")
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema")
        if application == 0, tables == 0 {
            let identity = randomness.makeNumber()
            try create(in: database, identity: identity)
            return identity
        }
        guard application == applicationID else { throw StoreOpenError.notADatabase(path: path) }
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else {
            throw StoreOpenError.newerSchema(path: path, version: found, supported: version)
        }
        if found < frozenVersion { try migrate(database, from: found) }
        let identity = try Int64.fetchOne(database, sql: "SELECT identity FROM store")
        return identity.map(UInt64.init(bitPattern:))
    }

    private static func create(in database: Database, identity: UInt64) throws {
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(frozenVersion)")
        try createTables(in: database)
        try database.execute(
            sql: "INSERT INTO store (id, identity) VALUES (1, ?)",
            arguments: [Int64(bitPattern: identity)]
        )
    }

    /// All tables and indexes of the frozen version.
    static let tables = [
        general, zones, records, assets, subscriptions, push, webhooks, accounts, explanation,
        keptAnswers, erasure, fieldKeys,
    ]

    /// Creates the tables and indexes of the frozen version.
    static func createTables(in database: Database) throws {
        for table in tables { try database.execute(sql: table) }
    }

    /// Whether a store has the frozen tables, so that it may lack only what later steps added.
    static func isFrozenOrLater(_ database: Database) throws -> Bool {
        (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0) >= frozenVersion
    }

    /// Whether the file at `path` is a store of an older version.
    static func isOutdated(at path: String, _ configuration: Configuration) throws -> Bool {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { database in
            try Int.fetchOne(database, sql: "PRAGMA application_id") == applicationID
                && (try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0) < version
        }
    }
}
