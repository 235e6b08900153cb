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
    static let version: Int64 = 6
    /// The oldest version whose code can serve these tables, beside newer ones: a node at a time is upgraded.
    static let oldestCode: Int64 = 2

    /// The oldest server that serves, as libpq numbers versions.
    private static let oldestServer = 15_00_00

    /// The version of a database that a copy is made into, which has not ended.
    static let unfinished: Int64 = -1
    /// The version of one whose cloud is in another store since.
    static let migrated: Int64 = -2
    /// Tables that are no rows of a cloud.
    static let ownTables = cellTables.union([
        "tidebell_schema", "store_writer", "queue_lease", "node",
    ])

    /// The key of the advisory lock under which tables are made: "TDBL" and a number.
    static let makingLock: Int64 = 0x5444_424C_0000_0001
    /// The key of the advisory lock that whoever serves holds.
    static let servingLock: Int64 = 0x5444_424C_0000_0002
    /// The key of the advisory lock of the node that does what one does for all.
    static let leaderLock: Int64 = 0x5444_424C_0000_0004
    /// The key of the advisory lock that the connections but the first have in common on which a server writes that
    /// is alone.
    static let lanesLock: Int64 = 0x5444_424C_0000_0005

    /// The key of the advisory lock of whoever moves something to another cell.
    static let movingLock: Int64 = 0x5444_424C_0000_0006

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

    /// The column of a table that has its numbers, as the name of the sequence says it.
    static func numberedColumn(of table: String) -> String {
        String(sequence(of: table).dropFirst(table.count + 1).dropLast("_seq".count))
    }

    /// What counts the rows of a table that gives numbers.
    static func sequence(of table: String) -> String {
        guard let sequence = sequences[table] else {
            preconditionFailure("\(table) gives no numbers")
        }
        return sequence
    }

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

    /// What nodes share: who holds what of the queues, which nodes there are, and sign-ins that are under way. Times
    /// are milliseconds.
    private static let nodes = """
        ALTER TABLE tidebell_schema ADD COLUMN oldest_code bigint NOT NULL DEFAULT 1;
        CREATE TABLE queue_lease (
            queue bytea NOT NULL,
            entry bytea NOT NULL,
            holder bytea,
            since bigint NOT NULL,
            vesting_at bigint NOT NULL,
            failures bigint NOT NULL,
            PRIMARY KEY (queue, entry)
        );
        CREATE TABLE node (
            name bytea PRIMARY KEY,
            process bigint NOT NULL,
            started_at bigint NOT NULL,
            seen_at bigint NOT NULL
        );
        CREATE TABLE device_sign_in (
            hash bytea PRIMARY KEY,
            user_code bytea NOT NULL UNIQUE,
            container bytea NOT NULL,
            environment bytea NOT NULL,
            methods bytea,
            device_name bytea,
            network bytea,
            address bytea,
            expires_at bigint NOT NULL,
            account bigint,
            user_name bytea,
            proof bytea,
            by_provider bigint NOT NULL DEFAULT 0
        );
        CREATE INDEX device_sign_in_end ON device_sign_in (expires_at);
        CREATE INDEX device_sign_in_account ON device_sign_in (account) WHERE account IS NOT NULL;
        CREATE TABLE finished_visit (
            hash bytea PRIMARY KEY,
            ends_at bigint NOT NULL
        );
        CREATE INDEX finished_visit_end ON finished_visit (ends_at);
        """

    /// By which nodes find notifications that another has appended. A copy gets it, too, which code of version 2 began.
    static let notificationIndex =
        "CREATE INDEX IF NOT EXISTS notification_named ON notification (\"user\", notification_id)"

    /// Databases that were copied from SQLite by version 2 may give numbers of these tables that have rows.
    private static let copiedNumbers = ["told", "delivery", "kept_answer"].map { table in
        """
        SELECT setval('\(table)_number_seq', max(number)) FROM \(table)
        HAVING max(number) > \(lastNumber(of: "\(table)_number_seq"))
        """
    }

    /// What PostgreSQL is to think of tables that are looked into by zone, database or user and then by something else: that there are few of
    /// those, with many rows each. In a cloud of many small zones it would find a name by reading the zone, also in
    /// the large one that somebody has.
    private static let zonesOfManyRows = [
        "record ALTER zone", "reference ALTER zone", "share ALTER zone", "share_grant ALTER zone",
        "shared_record ALTER zone", "asset_use ALTER zone", "unsettled_record ALTER zone",
        "zone ALTER database", "subscription ALTER database", "shared_zone ALTER database",
        "outbox ALTER database", "notification ALTER \"user\"", "kept_answer ALTER \"user\"",
    ].map { "ALTER TABLE \($0) SET (n_distinct = 100)" }.joined(separator: ";")

    /// An expression for the number that a sequence gave last; 0 before the first.
    static func lastNumber(of sequence: String) -> String {
        "(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM \(sequence))"
    }

    /// What makes the tables of each version, from 2 on, of those before it.
    ///
    /// 6 has no other tables than 5, and what is in cells is elsewhere (``firstWithCells``).
    ///
    /// A step that nodes of the version before cannot live with raises ``oldestCode``; whatever else is to go
    /// (a column, a table) goes a version later, when nobody reads it any more.
    private static let steps: [Int64: String] = [
        2: nodes, 3: ([notificationIndex] + copiedNumbers).joined(separator: ";"), 4: cells,
        5: zonesOfManyRows,
    ]

    /// All that makes an empty store, one statement after the other.
    static var statements: [String] {
        [own, databases, users, nodes, notificationIndex, cells, zonesOfManyRows].flatMap(
            statements(in:))
    }

    private static func statements(in text: String) -> [String] {
        // No text of ours has one inside.
        text.split(separator: ";").map { String($0.drop(while: \.isWhitespace)) }
            .filter { !$0.isEmpty }
    }

    /// Which code a database is for.
    struct Versions: Sendable, Hashable {
        /// That of its tables.
        var version: Int64 = 0
        /// The oldest that can serve them.
        var oldestCode: Int64 = 0

        /// Whether code of a version serves them.
        func areServed(by code: Int64) -> Bool {
            version == code || version > code && oldestCode <= code
        }
    }

    /// Reads which code a database is for.
    static func versions(on connection: PostgresConnection) throws -> Versions {
        var found = Versions()
        // Version 1 has no such column.
        try connection.rows(
            """
            SELECT version, coalesce((to_jsonb(tidebell_schema) ->> 'oldest_code')::bigint, 1)
            FROM tidebell_schema
            """
        ) { found = Versions(version: $0.int(0), oldestCode: $0.int(1)) }
        return found
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

    /// Makes the tables where there are none, and those of this version where older ones are; returns which
    /// code they are for then.
    ///
    /// - Parameter mayMigrate: Whether older ones are changed, as whoever serves does.
    static func prepare(
        _ connection: PostgresConnection, identity: Int64, version: Int64 = version,
        mayMigrate: Bool = true
    ) throws -> Versions {
        guard connection.serverVersion >= oldestServer else {
            throw StoreOpenError.unreachable(
                reason:
                    "it needs PostgreSQL 15 or newer, and this is \(connection.serverVersion / 10_000)"
            )
        }
        connection.enqueue("BEGIN")
        try connection.execute("SELECT pg_advisory_xact_lock($1)", [.int64(makingLock)])
        if try isMade(on: connection) {
            if mayMigrate { try takeSteps(connection) }
        } else {
            for statement in statements { connection.enqueueOnce(statement) }
            connection.enqueue(
                "INSERT INTO tidebell_schema (id, version, oldest_code) VALUES (1, $1, $2)",
                [.int64(version), .int64(oldestCode)])
            connection.enqueue(
                "INSERT INTO store (id, identity) VALUES (1, $1)", [.int64(identity)])
        }
        let found = try versions(on: connection)
        try connection.commitOrThrow()
        return found
    }

    /// Whether a database has tables of ours.
    static func isMade(on connection: PostgresConnection) throws -> Bool {
        var isMade = false
        try connection.rows("SELECT to_regclass('tidebell_schema') IS NOT NULL") {
            isMade = $0.bool(0)
        }
        return isMade
    }

    /// Takes the steps from an older version, one that is served.
    private static func takeSteps(_ connection: PostgresConnection) throws {
        var found: Int64 = 0
        try connection.rows("SELECT version FROM tidebell_schema") { found = $0.int(0) }
        guard found > 0, found < version else { return }
        let isSpread = try checkCells(ofVersion: found, on: connection)
        // Nobody's tables are changed under a server that cannot live with that.
        let oldestCode = isSpread ? max(oldestCode, firstWithCells) : oldestCode
        let inCommon = oldestCode <= found ? "_shared" : ""
        var isFree = false
        try connection.rows(
            """
            SELECT pg_try_advisory_xact_lock\(inCommon)($1)
                AND pg_try_advisory_xact_lock\(inCommon)($2)
            """, [.int64(servingLock), .int64(lanesLock)]
        ) { isFree = $0.bool(0) }
        guard isFree else {
            throw StoreOpenError.unreachable(
                reason:
                    "a server of an older version is running on it; stop that one first")
        }
        for step in (found + 1)...version {
            for statement in statements(in: steps[step] ?? "") { connection.enqueueOnce(statement) }
        }
        connection.enqueue(
            "UPDATE tidebell_schema SET version = $1, oldest_code = $2",
            [.int64(version), .int64(oldestCode)])
    }
}
