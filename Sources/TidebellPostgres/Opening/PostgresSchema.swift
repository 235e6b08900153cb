// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient

/// The tables, and how a database is known to have them.
///
/// Not made of SQLite's, which are frozen tables and a step for each version since, some for rows that a
/// new engine never had: it begins with the tables of today. `SchemaTests` holds that both engines have the same
/// tables and columns; each needs its own step when they change.
///
/// Indexes differ where SQLite's end with the row's number without saying so.
///
/// Texts are bytea: compared byte by byte, whatever the collation of the database, and with
/// U+0000, which PostgreSQL's texts cannot hold.
enum PostgresSchema {
    /// The version of the tables that this code reads and writes.
    static let version: Int64 = 1

    /// The oldest server that serves, as libpq numbers versions.
    private static let oldestServer = 15_00_00

    /// The version of a database that a copy is made into, which has not ended.
    static let unfinished: Int64 = -1
    /// The version of one whose cloud is in another store since.
    static let migrated: Int64 = -2
    /// Tables that are no rows of a cloud.
    static let ownTables: Set = ["tidebell_schema", "store_writer"]

    /// The key of the advisory lock under which tables are made: "TDBL" and a number.
    static let makingLock: Int64 = 0x5444_424C_0000_0001
    /// The key of the advisory lock that whoever serves holds.
    static let servingLock: Int64 = 0x5444_424C_0000_0002

    /// What counts the rows of each table that gives numbers, as PostgreSQL names it.
    static let sequences = [
        "account": "account_id_seq", "database": "database_id_seq",
        "delivery": "delivery_number_seq",
        "device": "device_key_seq", "field_index": "field_index_id_seq",
        "kept_answer": "kept_answer_number_seq", "notification": "notification_sequence_seq",
        "outbox": "outbox_id_seq", "subscription": "subscription_serial_seq",
        "told": "told_number_seq", "user": "user_id_seq", "webhook": "webhook_id_seq",
        "zone": "zone_key_seq",
    ]

    /// What only this engine has: the version and lineage, and the name of the last write of each process.
    private static let own = """
        CREATE TABLE tidebell_schema (
            id bigint PRIMARY KEY CHECK (id = 1),
            version bigint NOT NULL,
            lineage bytea
        );
        CREATE TABLE store_writer (
            id bigint PRIMARY KEY,
            last_write bigint NOT NULL
        );
        """

    /// All that makes an empty store, one statement after the other.
    static var statements: [String] {
        [own, databases, users].flatMap { text in
            // No text of ours has one inside.
            text.split(separator: ";").map { String($0.drop(while: \.isWhitespace)) }
                .filter { !$0.isEmpty }
        }
    }

    /// Why a database of another version is not opened.
    static func refusal(of version: Int64, at address: PostgresAddress) -> StoreOpenError {
        switch version {
        case unfinished: .unfinishedCopy(path: address.description)
        case migrated: .migrated(path: address.description)
        default:
            .otherSchema(
                path: address.description, version: Int(clamping: version),
                supported: Int(Self.version))
        }
    }

    /// Makes the tables where there are none; returns the version that is there then.
    static func prepare(
        _ connection: PostgresConnection, identity: Int64, version: Int64 = version
    ) throws -> Int64 {
        guard connection.serverVersion >= oldestServer else {
            throw StoreOpenError.unreachable(
                reason:
                    "it needs PostgreSQL 15 or newer, and this is \(connection.serverVersion / 10_000)"
            )
        }
        connection.enqueue("BEGIN")
        try connection.execute("SELECT pg_advisory_xact_lock($1)", [.int64(makingLock)])
        var exists = false
        try connection.rows("SELECT to_regclass('tidebell_schema') IS NOT NULL") {
            exists = $0.bool(0)
        }
        if !exists {
            for statement in statements { connection.enqueueOnce(statement) }
            connection.enqueue("INSERT INTO tidebell_schema (id, version) VALUES (1, \(version))")
            connection.enqueue(
                "INSERT INTO store (id, identity) VALUES (1, $1)", [.int64(identity)])
        }
        var found: Int64 = 0
        try connection.rows("SELECT version FROM tidebell_schema") { found = $0.int(0) }
        switch connection.commit() {
        case .committed: return found
        case .notCommitted(let error), .unknown(let error): throw error
        }
    }
}
