// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
package import TidebellSQL

/// The rows of a store in a database of PostgreSQL, for a copy to another engine or from one.
package final class PostgresTables: TableWriting {
    /// About how many bytes of rows are written at once, unless one has more.
    private static let bytesAtOnce = 4 << 20

    private let connection: PostgresConnection
    package private(set) var isUnfinished: Bool

    /// Opens a store that is to be copied.
    package convenience init(copying address: String) throws {
        try self.init(address, version: PostgresSchema.version)
    }

    /// Opens an empty database, which gets its tables, or the one of a copy that did not end; also a
    /// whole store, to compare it.
    package convenience init(filling address: String) throws {
        try self.init(address, version: PostgresSchema.unfinished)
    }

    /// - Parameter version: What a database gets that is empty.
    private init(_ text: String, version: Int64) throws {
        let address: PostgresAddress
        do {
            address = try PostgresAddress(text)
            connection = try PostgresConnection(address)
        } catch {
            throw StoreOpenError.unreachable(reason: error.description)
        }
        // A database without tables has nothing to be copied.
        let found = try PostgresSchema.prepare(connection, identity: 0, version: version)
            .version
        isUnfinished = found == PostgresSchema.unfinished
        guard found == PostgresSchema.version || found == version else {
            throw PostgresSchema.refusal(of: found, at: address)
        }
        let cells = try CellDirectory.cells(on: connection).count
        guard cells <= 1 else {
            throw StoreOpenError.unreachable(
                reason:
                    "the cloud is spread over \(cells) cells, and only one in one database can be copied"
            )
        }
        try connection.holdServingLock(for: "2s", at: address)
    }

    package func tables() throws -> [StoreTable] { try connection.storeTables() }

    package func rows(of table: StoreTable, _ body: ([CopiedValue]) throws -> Void) throws {
        // What is read is in a transaction of its own: a cursor lasts as long.
        defer { connection.rollback() }
        connection.enqueue("BEGIN READ ONLY")
        try connection.storeRows(of: table) { try $0.forEach(body) }
    }

    package func lastNumbers() throws -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for (table, sequence) in PostgresSchema.sequences {
            try connection.rows("SELECT \(PostgresSchema.lastNumber(of: sequence))") {
                numbers[table] = $0.int(0)
            }
        }
        return numbers
    }

    package func replace(
        _ table: StoreTable, with fill: (_ add: ([CopiedValue]) throws -> Void) throws -> Void
    ) throws {
        do {
            connection.enqueue("BEGIN")
            connection.enqueueOnce("DELETE FROM \"\(table.name)\"")
            var (rows, bytes): ([[CopiedValue]], Int) = ([], 0)
            try fill { row in
                rows.append(row)
                bytes += row.reduce(0) { $0 + $1.size }
                guard rows.count == PostgresConnection.rowsAtOnce || bytes >= Self.bytesAtOnce
                else { return }
                try connection.insert(rows, into: table)
                (rows, bytes) = ([], 0)
            }
            if !rows.isEmpty { try connection.insert(rows, into: table) }
        } catch {
            connection.rollback()
            throw error
        }
        try connection.commitOrThrow()
    }

    package func finish(_ lastNumbers: [String: Int64]) throws {
        for (table, sequence) in PostgresSchema.sequences {
            // SQLite gives the numbers of some tables by the greatest that is there, and keeps none.
            try connection.execute(
                """
                SELECT setval('\(sequence)', last) FROM (
                    SELECT greatest($1, max("\(PostgresSchema.numberedColumn(of: table))")) AS last
                    FROM "\(table)"
                ) AS found WHERE last > 0
                """, [.int64(lastNumbers[table] ?? 0)])
        }
        try connection.execute(PostgresSchema.notificationIndex)
        try setVersion(PostgresSchema.version)
        isUnfinished = false
    }

    package func closeAsMigrated() throws {
        try setVersion(PostgresSchema.migrated)
        connection.close()
    }

    package func close() { connection.close() }

    private func setVersion(_ version: Int64) throws {
        connection.enqueue("BEGIN")
        // Whatever history the copy is made in, it is the one that is served.
        connection.enqueue(
            "UPDATE tidebell_schema SET version = $1, lineage = NULL", [.int64(version)])
        try connection.commitOrThrow()
    }
}
