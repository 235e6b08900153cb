// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// What must hold before anything of a store is relied on that somebody else may have
/// written: its tables are those of this Tidebell, its numbers can be counted on from, its
/// names of files are names.
extension StoreCheck {
    /// Returns why a store that comes from elsewhere must not be opened; nothing for one
    /// that may be. Of a version before the frozen tables only what no version ever had is
    /// refused: look once more when it is migrated.
    package static func refusals(ofStoreAt path: String) throws -> [StoreProblem] {
        do {
            let queue = try SQLiteStore.queueThatOnlyReads(path)
            defer { try? queue.close() }
            return try queue.read { database in
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                let check = StoreCheck(Connection(database))
                let sequences = try check.sequenceProblems()
                guard version >= Schema.frozenVersion else {
                    return try check.programs() + sequences
                }
                let problems = try check.schemaProblems()
                // Without its tables there is nothing to look at.
                guard problems.isEmpty else { return problems }
                return try sequences + check.numberProblems() + check.nameProblems()
            }
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }

    /// An entry of SQLite's list of what a file holds.
    private struct Entry: Hashable {
        var kind: String
        var name: String
        /// Nil for what SQLite makes by itself.
        var sql: String?

        var named: String { "the \(kind) '\(name)'" }
    }

    /// The tables that SQLite and GRDB's migrator keep for themselves.
    private static let ofLibraries: Set = [
        "sqlite_sequence", "sqlite_stat1", "sqlite_stat4", "grdb_migrations",
    ]

    private static func entries(on connection: Connection) throws -> [Entry] {
        try connection.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid") {
            let sql = $0.optionalText(2)?.split(whereSeparator: \.isWhitespace)
            return Entry(kind: $0.text(0), name: $0.text(1), sql: sql?.joined(separator: " "))
        }.filter { $0.sql != nil && !($0.kind == "table" && ofLibraries.contains($0.name)) }
    }

    /// What a new store of a version has, of which the tables are frozen.
    private static func expectedEntries(ofVersion version: Int) throws -> [Entry] {
        let queue = try DatabaseQueue()
        defer { try? queue.close() }
        try queue.write { try Schema.createTables(in: $0) }
        try SchemaSteps.released.upTo(version: version).apply(to: queue)
        return try queue.read { try entries(on: Connection($0)) }
    }

    /// Compares tables, indexes, triggers and views with those that the store's version has.
    func schemaProblems() throws -> [StoreProblem] {
        let version = try connection.first("PRAGMA user_version") { Int($0.int(0)) }
        let expected = try Self.expectedEntries(ofVersion: version ?? 0)
        let found = try Self.entries(on: connection)
        let names = Dictionary(grouping: expected, by: { "\($0.kind) \($0.name)" })
        let present = Set(found.map { "\($0.kind) \($0.name)" })
        var problems = expected.filter { !present.contains("\($0.kind) \($0.name)") }
            .map { StoreProblem("\($0.named) is missing") }
        for entry in found {
            switch names["\(entry.kind) \(entry.name)"]?.first {
            case entry: continue
            case nil: problems.append(StoreProblem("\(entry.named) is not Tidebell's"))
            default:
                problems.append(
                    StoreProblem("\(entry.named) is not as this Tidebell makes it"))
            }
        }
        return problems
    }

    /// What runs by itself when the store is used; Tidebell makes none.
    private func programs() throws -> [StoreProblem] {
        try Self.entries(on: connection)
            .filter { $0.kind == "trigger" || $0.kind == "view" }
            .map { StoreProblem("\($0.named) is not Tidebell's") }
    }

    /// Names what stands as a table's last ID and is no number: it has no type that SQLite
    /// would keep to.
    func sequenceProblems() throws -> [StoreProblem] {
        let tables = try connection.rows(
            "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'"
        ) { $0.int(0) }
        guard !tables.isEmpty else { return [] }
        return try connection.rows(
            """
            SELECT name FROM sqlite_sequence
            WHERE typeof(name) <> 'text' OR typeof(seq) <> 'integer' ORDER BY rowid
            """
        ) { StoreProblem("the last ID of the table '\($0.text(0))' is no number") }
    }

    /// Names numbers that could not be counted on.
    func numberProblems() throws -> [StoreProblem] {
        let tables = try connection.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"
        ) { $0.text(0) }
        return try tables.compactMap { table -> StoreProblem? in
            let columns =
                table == "sqlite_sequence"
                ? ["seq"]
                : try connection.rows(
                    "SELECT name FROM pragma_table_info(?) WHERE type = 'INTEGER'", table
                ) { $0.text(0) }
            return try StoreNumbers.outOfBounds(
                table, columns.filter { !StoreNumbers.bits.contains($0) }, on: connection
            ).map { StoreProblem($0) }
        }
    }

    /// Names files whose names would lead elsewhere.
    func nameProblems() throws -> [StoreProblem] {
        try connection.rows("SELECT file FROM asset ORDER BY file") { $0.text(0) }
            .filter { !StoredAsset.isPlainName($0) }
            .map { StoreProblem("the file '\($0)' has no plain name") }
    }
}
