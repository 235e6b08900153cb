// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellWire

extension Schema {
    /// Brings a store of an older version to the frozen tables, whole or not at
    /// all, and loses nothing.
    ///
    /// Every table is made anew and takes over the columns both have; what is
    /// new gets the value ``additions`` says, else its default. Numbers that
    /// must never be given twice go on where they were.
    ///
    /// There were several version 2, and several version 4; each has some of the columns of the
    /// next, so that the tables and columns there are decide, not the version.
    static func migrate(_ database: Database, from version: Int) throws {
        let columns = try oldColumns(in: database)
        let old = columns.keys.sorted()
        let numbers = try Row.fetchAll(database, sql: "SELECT name, seq FROM sqlite_sequence")
        for index in try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ) {
            try database.execute(sql: "DROP INDEX \(index)")
        }
        for table in old {
            try database.execute(sql: "ALTER TABLE \(table) RENAME TO old_\(table)")
        }
        try createTables(in: database)
        if columns["outbox_queue"] == nil { try queueOutbox(of: columns, in: database) }
        for table in old {
            try takeOver(
                table, replacing: version < 3 ? replacements[table] ?? [:] : [:], in: database)
        }
        if version < 3 { try database.execute(sql: plainFields) }
        if columns["web_token"]?.contains("origin") != true {
            try database.execute(sql: tokenOrigins)
        }
        if columns["removed_account"] == nil { try database.execute(sql: removedAccounts) }
        try database.execute(sql: keptAnswerSizes)
        if columns["unsealed_record"] == nil { try database.execute(sql: unsealedRecords) }
        if columns["lost_asset"] == nil { try database.execute(sql: lostAssets) }
        // Later the rows that deleted zones have left count for nothing.
        if columns["record"]?.contains("size") != true { try database.execute(sql: uses) }
        try sumUp(SubscriptionRow.fetchAll(database), in: database)
        for row in numbers {
            let (name, number): (String, Int64) = (row["name"], row["seq"])
            try database.execute(
                sql: "DELETE FROM sqlite_sequence WHERE name IN (?, ?)",
                arguments: [name, "old_\(name)"]
            )
            try database.execute(
                sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
                arguments: [name, number]
            )
        }
        try database.execute(sql: "PRAGMA user_version = \(frozenVersion)")
    }

    /// The values of columns that older versions did not have, by table and
    /// column, as SQL over the old row.
    private static let additions: [String: [String: String]] = [
        "record": ["checksum": "\(FieldChecksum.functionName)(fields)", "size": recordSize],
        "outbox": ["ends_zone": "event LIKE '{\"zoneDeleted\"%'"],
        "device": ["seen_at": "registered_at"],
        "push_token": ["registered_at": "0"],
        // Which tokens followed one another is not known, so each is a session.
        "web_token": ["session": "lower(hex(substr(hash, 1, 8)))"],
        // A native token starts at the head of the log, as a new one does.
        "push_token_device": [
            "delivered": """
            (SELECT (SELECT ifnull(max(sequence), 0) FROM notification) FROM push_token
            WHERE push_token.token = old_push_token_device.token AND courier IS NULL)
            """,
            // Couriers used to share the position of their device, and go on from there.
            "given_out": """
            (SELECT device.acknowledged FROM push_token CROSS JOIN device
            WHERE push_token.token = old_push_token_device.token AND courier IS NOT NULL
                AND device.key = old_push_token_device.device)
            """,
        ],
    ]

    /// What columns of stores before version 3 held and may hold no more, as above: stamps
    /// told the client IDs of devices.
    private static let replacements: [String: [String: String]] = [
        "record": ["created_device": "''", "modified_device": "''"]
    ]

    /// Before version 3 any save could make a field encrypted that was stored plain, after
    /// which plain saves are refused: what is stored plain somewhere is plain (REC-11).
    private static let plainFields = """
        UPDATE field_type SET encrypted = 0
        WHERE encrypted = 1 AND EXISTS (
            SELECT 1 FROM database
            JOIN zone ON zone.database = database.id
            JOIN record ON record.zone = zone.key AND record.type = field_type.record_type
                AND record.deleted = 0
            JOIN json_each(CAST(record.fields AS TEXT)) AS stored
            WHERE database.container = field_type.container
                AND database.environment = field_type.environment
                AND stored.key = field_type.field
                AND json_extract(stored.value, '$.isEncrypted') IS NULL
        )
        """

    /// Before version 4 it was not written down how a web token was made: those that are
    /// renewed were given to devices, and those of half an hour to web pages.
    private static let tokenOrigins = """
        UPDATE web_token SET origin = CASE lifetime WHEN 1800000 THEN 'page' ELSE 'device' END
        WHERE lifetime IS NOT NULL
        """

    /// Before version 4 a removed account left its users and no name.
    private static let removedAccounts = """
        INSERT OR IGNORE INTO removed_account (account, removed_at)
        SELECT DISTINCT account, 0 FROM user WHERE account NOT IN (SELECT id FROM account)
        """

    /// Before version 4 the sizes of all users' answers were counted together.
    private static let keptAnswerSizes = """
        INSERT OR REPLACE INTO kept_answer_size (user, bytes)
        SELECT user, sum(length(body) + \(KeptAnswer.rowSize)) FROM kept_answer GROUP BY user
        """

    /// Before version 4 encrypted fields were stored in clear text: their records are noted,
    /// to be sealed while the server runs. What was kept of changes to be told, and of
    /// answers, goes within a day.
    private static let unsealedRecords = """
        INSERT INTO unsealed_record (zone, name)
        SELECT zone, name FROM record
        WHERE deleted = 0 AND instr(fields, CAST('"isEncrypted":true' AS BLOB)) > 0
        """

    /// Before version 5 files that were given up were not noted: those that records hold and
    /// that are not there.
    private static let lostAssets = """
        INSERT INTO lost_asset (content)
        SELECT DISTINCT content FROM asset_use WHERE content NOT IN (SELECT content FROM asset)
        """

    /// What a record takes (``StorageUse``); `asset` has been taken over before.
    private static let recordSize = """
        CASE deleted WHEN 1 THEN 0 ELSE \(StoredRecord.overhead)
            + length(CAST(name AS BLOB)) + length(CAST(type AS BLOB)) + length(fields)
            + (SELECT ifnull(sum(asset.size), 0)
                FROM asset_use JOIN asset ON asset.content = asset_use.content
                WHERE asset_use.zone = old_record.zone AND asset_use.record = old_record.name)
        END
        """

    /// What zones and databases take, counted once.
    private static let uses = """
        UPDATE zone SET
            bytes = (SELECT ifnull(sum(size), 0) FROM record WHERE record.zone = zone.key),
            records = (SELECT count(*) FROM record WHERE record.zone = zone.key AND size > 0);
        UPDATE database SET
            bytes = (SELECT ifnull(sum(bytes), 0) FROM zone WHERE zone.database = database.id),
            records = (SELECT ifnull(sum(records), 0) FROM zone
                WHERE zone.database = database.id);
        """

    private struct SubscriptionRow: FetchableRecord {
        var serial: Int64
        var json: String

        init(row: Row) {
            (serial, json) = (row["serial"], row["json"])
        }

        static func fetchAll(_ database: Database) throws -> [SubscriptionRow] {
            try fetchAll(database, sql: "SELECT serial, json FROM subscription")
        }
    }

    /// Notes of subscriptions what is known of them without reading them.
    private static func sumUp(_ rows: [SubscriptionRow], in database: Database) throws {
        for row in rows {
            let json = Array(row.json.utf8)
            // One that cannot be read is no obstacle to opening the store.
            let stored = try? StoredSubscription(
                serial: .start, database: DatabaseID(rawValue: 0), user: UserID(rawValue: 0),
                encoded: json
            )
            guard let keys = stored?.keys else { continue }
            try database.execute(
                sql: "UPDATE subscription SET duplicate_hash = ?, bytes = ? WHERE serial = ?",
                arguments: [
                    Int64(bitPattern: keys.duplicateHash), json.count, row.serial,
                ]
            )
        }
    }

    /// Before version 4 the outbox was told in one order of all databases; still older
    /// stores kept no entries that were told.
    private static func queueOutbox(
        of columns: [String: Set<String>], in database: Database
    ) throws {
        guard columns["outbox"] != nil else { return }
        let isMarked = columns["store"]?.contains("outbox_told") == true
        let told = isMarked ? "(SELECT outbox_told FROM old_store)" : "0"
        try database.execute(
            sql: """
                INSERT INTO outbox_queue (database, done, turn)
                SELECT database, \(told), min(id) FROM old_outbox WHERE id > \(told)
                GROUP BY database
                """
        )
    }

    /// The columns of the tables there are.
    private static func oldColumns(in database: Database) throws -> [String: Set<String>] {
        let tables = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                """
        )
        return try Dictionary(
            uniqueKeysWithValues: tables.map { table in
                (table, Set(try database.columns(in: table).map(\.name)))
            })
    }

    private static func takeOver(
        _ table: String, replacing replaced: [String: String], in database: Database
    ) throws {
        if try database.tableExists(table) {
            let old = Set(try database.columns(in: "old_\(table)").map(\.name))
            let added = additions[table] ?? [:]
            let columns = try database.columns(in: table).map(\.name).filter {
                old.contains($0) || added[$0] != nil
            }
            let values = columns.map { column in
                replaced[column] ?? (old.contains(column) ? column : added[column] ?? column)
            }
            try database.execute(
                sql: """
                    INSERT INTO \(table) (\(columns.joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM old_\(table)
                    """
            )
        }
        try database.execute(sql: "DROP TABLE old_\(table)")
    }
}
