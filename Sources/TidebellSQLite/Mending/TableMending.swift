// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// Makes tables anew of which pages are damaged, with everything in them that can be read.
///
/// SQLite neither writes past a damaged page nor removes what leads to it. So the table is
/// removed from the list of tables and made again; its pages stay in the file, used by nobody,
/// until the file is copied (`VACUUM`).
struct TableMending {
    /// The tables that can be made anew: their rows stand in indexes too, and show what is
    /// missing; those of indexes of fields are built again from records, further terms from
    /// subscriptions.
    static let tables = [
        "record", "reference", "asset_use", "subscription", "subscription_term", "field_index",
        "field_index_entry",
    ]

    /// In a transaction of its own, in which it has met no damage.
    let writer: Connection
    /// Another connection, outside of any transaction, that sees what `writer` sees: what
    /// meets damage in a transaction can write no more in it.
    let reader: Connection

    /// Mends what is damaged of ``tables``; returns nil where they are sound.
    func run() throws -> StoreMend? {
        var mend = StoreMend()
        // A copy of an older version lacks the later ones.
        let tables = try Self.tables.filter { try writer.hasTable($0) }
        for table in try tables.filter({ try !Self.isSound($0, on: reader) }) {
            try makeAnew(table)
            mend.tables.append(table)
            switch table {
            case "record": try RecordMending(writer: writer, reader: reader).run(&mend)
            case "subscription":
                try SubscriptionMending(writer: writer, reader: reader).run(&mend)
                try fileSubscriptions()
            case "subscription_term": try fileSubscriptions()
            case "field_index", "field_index_entry": try forgetIndexes(besides: table)
            default:
                try copyRows(of: table)
                try DerivedRows(
                    table == "reference" ? .references : .assetUses, writer: writer, reader: reader
                ).settle(&mend)
            }
        }
        return mend.tables.isEmpty ? nil : mend
    }

    /// Whether all pages and indexes of a table are as they must be.
    static func isSound(_ table: String, on connection: Connection) throws -> Bool {
        do {
            let lines = try connection.rows("PRAGMA integrity_check('\(table)')") { $0.text(0) }
            return lines == ["ok"]
        } catch DatabaseError.SQLITE_CORRUPT {
            return false
        }
    }

    /// Makes the table and its indexes anew, empty.
    func makeAnew(_ table: String) throws {
        let statements = try writer.rows(
            """
            SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
            ORDER BY type = 'index', rowid
            """,
            table
        ) { $0.text(0) }
        // NB: DROP would walk through all pages.
        try writer.run("PRAGMA writable_schema = ON")
        do {
            try writer.run("DELETE FROM sqlite_schema WHERE tbl_name = ?", table)
        } catch {
            // The failure to report is the first one; the connection goes on with other calls.
            try? writer.run("PRAGMA writable_schema = RESET")
            throw error
        }
        try writer.run("PRAGMA writable_schema = RESET")
        for statement in statements { try writer.database.execute(sql: statement) }
    }

    /// Lets queries begin without any index of fields; they wish for them once more.
    private func forgetIndexes(besides table: String) throws {
        for other in ["field_index", "field_index_entry"] where other != table {
            try makeAnew(other)
        }
        try writer.run("UPDATE zone SET indexed = 0 WHERE indexed = 1")
    }

    /// Files all subscriptions anew, those of an older version under the terms of today.
    private func fileSubscriptions() throws {
        guard try writer.hasTable("subscription_term") else { return }
        try makeAnew("subscription_term")
        var start = SubscriptionSerial.start
        while true {
            let page = try writer.rows(
                """
                SELECT serial, database, json FROM subscription
                WHERE kind = 'query' AND serial > ? ORDER BY serial LIMIT 100
                """, start
            ) { columns in
                (
                    serial: try columns.value(0) as SubscriptionSerial,
                    database: try columns.value(1) as DatabaseID, json: columns.bytes(2)
                )
            }
            guard let last = page.last?.serial else { return }
            for (serial, database, json) in page {
                // What cannot be read fires nothing.
                guard let keys = StoredSubscription(readable: json)?.keys else { continue }
                let first = keys.terms.first ?? .none
                try writer.run(
                    "UPDATE subscription SET term = ?1 WHERE serial = ?2 AND term <> ?1",
                    first, serial)
                try keys.putFurtherTerms(of: serial, in: database, writer)
            }
            start = last
        }
    }

    // MARK: Tables whose rows stand whole in an index

    private func copyRows(of table: String) throws {
        switch table {
        case "reference":
            try copy(
                table, ["zone", "source", "target", "kind"], index: "reference_target",
                indexed: ["zone", "target", "source", "kind"]
            ) { [$0.int(0), $0.text(1), $0.text(2), $0.int(3)] }
        default:
            try copy(
                table, ["zone", "record", "content"], index: "asset_use_content",
                indexed: ["content", "zone", "record"]
            ) { [$0.int(0), $0.text(1), $0.text(2)] }
        }
    }

    private func copy(
        _ table: String, _ key: [String], index: String, indexed: [String],
        read: (Columns) -> [any Bindable]
    ) throws {
        let columns = key.joined(separator: ", ")
        let placeholders = key.map { _ in "?" }.joined(separator: ", ")
        let insert = "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(placeholders))"
        for (source, order) in [("NOT INDEXED", key), ("INDEXED BY \(index)", indexed)] {
            for direction in ["", " DESC"] {
                let sorted = order.map { $0 + direction }.joined(separator: ", ")
                var failure: (any Error)?
                do {
                    try reader.each("SELECT \(columns) FROM \(table) \(source) ORDER BY \(sorted)")
                    {
                        row in
                        do {
                            try writer.run(insert, values: read(row))
                        } catch {
                            failure = error
                            return false
                        }
                        return true
                    }
                    if let failure { throw failure }
                    break
                } catch DatabaseError.SQLITE_CORRUPT where failure == nil {
                    // The rest is read from the other end, and from the index.
                }
            }
        }
    }
}
