// SPDX-License-Identifier: Apache-2.0
package import Foundation
import GRDB
import TidebellCore
package import TidebellSQL
package import TidebellScheduling

/// The rows of a store in a file, for a copy to another engine or from one.
package final class SQLiteTables: TableWriting {
    /// Where a file is made ready that gets rows: a folder in the data folder.
    private static let draftName = ".tidebell-migration"
    /// What a file is named whose cloud is in another store.
    package static let migratedName = "\(SQLiteFactory.fileName)-migrated"

    private let folder: URL
    private let store: SQLiteStore
    package let isUnfinished: Bool

    /// Opens the store of a data folder that is to be copied; a running server is refused.
    package init(copying folder: URL, time: Time, randomness: Randomness) throws {
        self.folder = folder
        isUnfinished = false
        store = try SQLiteStore.open(
            at: folder.appendingPathComponent(SQLiteFactory.fileName).path, time: time,
            randomness: randomness)
    }

    /// Opens a new file for a data folder that has none, or the one of a copy that did not end.
    package init(filling folder: URL, time: Time, randomness: Randomness) throws {
        self.folder = folder
        isUnfinished = true
        store = try SQLiteStore.open(
            at: Self.draft(in: folder).appendingPathComponent(SQLiteFactory.fileName).path,
            time: time, randomness: randomness)
    }

    private static func draft(in folder: URL) -> URL {
        folder.appendingPathComponent(draftName, isDirectory: true)
    }

    package func close() async throws { try await store.close() }

    /// The columns of a table that hold texts, and not blobs.
    private func texts(of table: StoreTable, _ connection: Connection) throws -> Set<String> {
        Set(
            try connection.rows(
                "SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'", table.name
            ) { $0.text(0) })
    }

    package func tables() throws -> [StoreTable] {
        try store.pool.read { database in
            let connection = Connection(database)
            let names = try connection.rows(
                """
                SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                    AND name <> 'grdb_migrations' ORDER BY name
                """
            ) { $0.text(0) }
            return try names.map { name in
                let columns = try connection.rows(
                    "SELECT name, type <> 'INTEGER' FROM pragma_table_info(?) ORDER BY name", name
                ) { StoreTable.Column(name: $0.text(0), type: $0.bool(1) ? .bytes : .number) }
                let key = try connection.rows(
                    "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", name
                ) { $0.text(0) }
                return StoreTable(name: name, columns: columns, key: key)
            }
        }
    }

    package func rows(of table: StoreTable, _ body: ([CopiedValue]) throws -> Void) throws {
        try store.pool.read { database in
            try Connection(database).each(
                """
                SELECT \(table.columns.map { "\"\($0.name)\"" }.joined(separator: ", "))
                FROM "\(table.name)" ORDER BY \(table.key.joined(separator: ", "))
                """
            ) { columns in
                try body(
                    table.columns.enumerated().map {
                        CopiedValue(columns, $0.offset, $0.element.type)
                    })
                return true
            }
        }
    }

    package func lastNumbers() throws -> [String: Int64] {
        let numbers = try store.pool.read { database in
            try Connection(database).rows("SELECT name, seq FROM sqlite_sequence") {
                ($0.text(0), $0.int(1))
            }
        }
        return Dictionary(numbers) { max($0, $1) }
    }

    package func replace(
        _ table: StoreTable, with fill: (_ add: ([CopiedValue]) throws -> Void) throws -> Void
    ) throws {
        try store.pool.write { database in
            let connection = Connection(database)
            let texts = try texts(of: table, connection)
            try connection.run("DELETE FROM \"\(table.name)\"")
            let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
            let places = table.columns.map { _ in "?" }.joined(separator: ", ")
            let sql = "INSERT INTO \"\(table.name)\" (\(names)) VALUES (\(places))"
            try fill { row in
                let values = zip(table.columns, row).map { column, value -> any Bindable in
                    switch value {
                    case .null: Int64?.none
                    case .number(let number): number
                    case .bytes(let bytes) where texts.contains(column.name): KeptText(bytes: bytes)
                    case .bytes(let bytes): bytes
                    }
                }
                try connection.run(sql, values: values)
            }
        }
    }

    package func finish(_ lastNumbers: [String: Int64]) async throws {
        try await store.pool.write { database in
            let connection = Connection(database)
            // The others give the number after the greatest that is there.
            let counted = Set(
                try connection.rows(
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
                ) { $0.text(0) })
            for (table, number) in lastNumbers.sorted(by: { $0.key < $1.key })
            where counted.contains(table) {
                try connection.run("DELETE FROM sqlite_sequence WHERE name = ?", table)
                try connection.run(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, number)
            }
        }
        let name = SQLiteFactory.fileName
        let draft = Self.draft(in: folder)
        let path = folder.appendingPathComponent(name).path
        try await closeWhole(at: draft.appendingPathComponent(name).path)
        // A log of an earlier file of the name must never be taken for this one's.
        for end in ["-wal", "-shm"] { _ = unlink(path + end) }
        try Self.rename(draft.appendingPathComponent(name).path, to: path)
        try FileManager.default.removeItem(at: draft)
        // A note of how far an earlier store of the folder came says nothing of this one.
        _ = unlink("\(path)-server")
    }

    package func closeAsMigrated() async throws {
        let path = folder.appendingPathComponent(SQLiteFactory.fileName).path
        try await closeWhole(at: path)
        try Self.rename(path, to: folder.appendingPathComponent(Self.migratedName).path)
        for end in ["-wal", "-shm"] { _ = unlink(path + end) }
    }

    /// Copies the log into the file, so that this is whole without it, and closes the store.
    private func closeWhole(at path: String) async throws {
        try await store.pool.writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
        }
        try await store.close()
        let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        guard (log ?? 0) == 0 else {
            throw StoreOpenError.unwritable(path: path, reason: "its log is in use")
        }
    }

    private static func rename(_ path: String, to other: String) throws {
        guard Foundation.rename(path, other) == 0 else {
            throw StoreOpenError.unwritable(path: other, reason: String(cString: strerror(errno)))
        }
    }
}

/// A text in UTF-8 that is kept as it is.
private struct KeptText: Bindable {
    let bytes: [UInt8]

    static var sqlType: SQLType { .bytes }
    var sqlValue: SQLValue { .textBytes(bytes) }
}
