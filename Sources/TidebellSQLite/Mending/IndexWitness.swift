// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// An index of a table, as a witness of what the table's rows were.
struct IndexWitness {
    /// A column of the index.
    private struct Column {
        var name: String
        /// As of a STRICT table; nil for the row ID, which is a number in any case.
        var type: String?
        var isOptional: Bool
        /// Whether it is part of what the table's rows are found by.
        var isKey: Bool
    }

    private let name: String
    private let table: String
    /// The table without its other indexes, as SQL reads from it.
    private let source: String
    /// The columns of the index, and what is left of the table's key.
    private let columns: [Column]
    /// Which rows the index has; nil for all.
    private let condition: String?
    private let reader: Connection

    /// Whether the index has some rows only.
    var isPartial: Bool { condition != nil }

    /// The names of its columns.
    var columnNames: [String] { columns.map(\.name) }

    /// Returns all indexes of a table but the one that is the table itself.
    static func all(of table: String, from source: String, on reader: Connection) throws -> [Self] {
        let indexes = try reader.rows(
            """
            SELECT list.name, ifnull(statement.sql, '') FROM pragma_index_list(?) AS list
            LEFT JOIN sqlite_schema AS statement ON statement.name = list.name
            WHERE origin <> 'pk'
            """,
            table
        ) { (name: $0.text(0), sql: $0.text(1)) }
        return try indexes.map { index in
            Self(
                name: index.name, table: table, source: source,
                columns: try columns(of: index.name, table, on: reader),
                condition: index.sql.firstRange(of: "WHERE ").map {
                    String(index.sql[$0.upperBound...])
                },
                reader: reader
            )
        }
    }

    private static func columns(
        of index: String, _ table: String, on reader: Connection
    ) throws -> [Column] {
        try reader.rows(
            """
            SELECT own.name, theirs.type, theirs."notnull", theirs.pk
            FROM pragma_index_xinfo(?) AS own
            LEFT JOIN pragma_table_info(?) AS theirs ON theirs.cid = own.cid
            """,
            index, table
        ) { columns in
            // NB: the row ID has no name here, and no other column is the key of a table that
            // has one.
            Column(
                name: columns.optionalText(0) ?? "rowid", type: columns.optionalText(1),
                isOptional: !columns.bool(2), isKey: columns.isNull(0) || columns.bool(3)
            )
        }
    }

    /// Whether the index has what the table has; nil where it cannot be read.
    func agrees() throws -> Bool? {
        do {
            let surplus = "SELECT * FROM (\(entries)) EXCEPT SELECT * FROM (\(rows))"
            return try !finds(lackingRows) && !finds(surplus)
        } catch DatabaseError.SQLITE_CORRUPT {
            return nil
        }
    }

    /// Whether the index, which can be read and does not agree, shows that a row of the table may
    /// be of another moment: it has that row with other values, or though the table's row is none
    /// for it, or lacks it though it is sound by itself.
    ///
    /// - Parameter known: Columns of which other indexes have what the table has. An entry that
    ///   differs in one of them is wrong itself.
    func contradicts(knowing known: Set<String>) throws -> Bool {
        let doubtful = sql(" OR ") { column, name in
            known.contains(column.name) ? nil : "entry.\(name) IS NOT own.\(name)"
        }
        if let doubtful, try finds(candidates(of: lackingRows, knowing: known, where: doubtful)) {
            return true
        }
        guard let condition else { return false }
        let others = "\(selection) FROM \(source) WHERE (\(condition)) IS NOT TRUE"
        if try finds(candidates(of: others, knowing: known, where: "TRUE")) { return true }
        // NB: of a table without row IDs SQLite passes over entries of unknown rows, so that it is
        // not known whether the index is sound by itself.
        guard columns.contains(where: { $0.type == nil }) else { return false }
        let keys = sql(", ") { $0.isKey ? $1 : nil } ?? ""
        let silent = "SELECT \(keys) FROM (\(lackingRows)) EXCEPT SELECT \(keys) FROM (\(entries))"
        let wrong = "SELECT 1 FROM (\(entries)) AS entry WHERE NOT (\(isWellTyped))"
        return try finds(silent) && !finds(wrong)
    }

    // MARK: SQL

    /// What is joined of all columns; `part` gets each with its name in the statements here.
    private func sql(
        _ separator: String, _ part: (_ column: Column, _ name: String) -> String?
    ) -> String? {
        let parts = columns.enumerated().compactMap { part($1, "c\($0)") }
        return parts.isEmpty ? nil : parts.joined(separator: separator)
    }

    private var selection: String { "SELECT " + (sql(", ") { "\($0.name) AS \($1)" } ?? "") }

    private var filter: String { condition.map { "WHERE \($0)" } ?? "" }

    /// What the index has. NB: the limit keeps SQLite from asking the table as well.
    private var entries: String {
        "\(selection) FROM \(table) INDEXED BY \(name) \(filter) LIMIT -1"
    }

    /// What it should have.
    private var rows: String { "\(selection) FROM \(source) \(filter)" }

    private var lackingRows: String { "SELECT * FROM (\(rows)) EXCEPT SELECT * FROM (\(entries))" }

    /// Whether an entry can be one of the table's.
    private var isWellTyped: String {
        sql(" AND ") { column, name in
            column.type.map { type in
                let types = "'\(type.lowercased())'" + (column.isOptional ? ", 'null'" : "")
                return "typeof(entry.\(name)) IN (\(types))"
            }
        } ?? "TRUE"
    }

    /// The entries that may be those of rows of the table.
    private func candidates(
        of rows: String, knowing known: Set<String>, where condition: String
    ) -> String {
        let isSame = sql(" AND ") { column, name in
            column.isKey || known.contains(column.name) ? "entry.\(name) IS own.\(name)" : nil
        }
        return """
            SELECT 1 FROM (\(entries)) AS entry CROSS JOIN (\(rows)) AS own
            WHERE \(isSame ?? "TRUE") AND \(isWellTyped) AND (\(condition))
            """
    }

    private func finds(_ query: String) throws -> Bool {
        try reader.first("SELECT 1 FROM (\(query)) LIMIT 1") { _ in true } != nil
    }
}
