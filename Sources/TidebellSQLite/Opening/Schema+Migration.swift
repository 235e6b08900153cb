// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

extension Schema {
    /// Brings a store of an older version to the frozen tables, whole or not at
    /// all, and loses nothing.
    ///
    /// Every table is made anew and takes over the columns both have; what is
    /// new gets the value from ``additions``, else its default. Numbers that
    /// must never be given twice go on where they were.
    ///
    /// There were several version 2, and several version 4; each has some of the columns of the
    /// next, so that the tables and columns there are decide, not the version.
    static func migrate(_ database: Database, from version: Int) throws {
        let columns = try oldColumns(in: database)
        let old = columns.keys.sorted()
        let numbers = try lastIDs(in: database)
        for index in try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ) {
            try database.execute(sql: "DROP INDEX \(index.quotedDatabaseIdentifier)")
        }
        for table in old {
            let renamed = "old_\(table)".quotedDatabaseIdentifier
            try database.execute(
                sql: "ALTER TABLE \(table.quotedDatabaseIdentifier) RENAME TO \(renamed)")
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
        for (name, number) in numbers {
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

    /// The last ID that each table gave; SQLite keeps no type there.
    private static func lastIDs(in database: Database) throws -> [(String, Int64)] {
        try Row.fetchAll(database, sql: "SELECT name, seq FROM sqlite_sequence").map { row in
            let name = String.fromDatabaseValue(row["name"])
            guard let name, let number = Int64.fromDatabaseValue(row["seq"]) else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT,
                    message: "the last ID of the table '\(name ?? "")' is no number"
                )
            }
            return (name, number)
        }
    }

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

    /// Before version 4 the outbox was processed in one order of all databases; still older
    /// stores kept no processed entries.
    private static func queueOutbox(
        of columns: [String: Set<String>], in database: Database
    ) throws {
        guard columns["outbox"] != nil else { return }
        let isMarked = columns["store"]?.contains("outbox_told") == true
        let notified = isMarked ? "(SELECT outbox_told FROM old_store)" : "0"
        try database.execute(
            sql: """
                INSERT INTO outbox_queue (database, done, turn)
                SELECT database, \(notified), min(id) FROM old_outbox WHERE id > \(notified)
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
        try database.execute(sql: "DROP TABLE \("old_\(table)".quotedDatabaseIdentifier)")
    }
}
