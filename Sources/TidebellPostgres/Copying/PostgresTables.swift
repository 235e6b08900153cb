// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
package import TidebellSQL

/// The rows of a store in a database of PostgreSQL, for a copy to another engine or from one.
package final class PostgresTables: TableWriting {
    /// How many rows are read or written at once.
    private static let rowsAtOnce = 500
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
        try connection.holdServingLock(for: "2s", at: address)
    }

    package func tables() throws -> [StoreTable] {
        var columns: [String: [StoreTable.Column]] = [:]
        try connection.rows(
            """
            SELECT pg_class.relname, attname, atttypid = 'bytea'::regtype
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0
                AND NOT attisdropped
            ORDER BY attname
            """
        ) { row in
            columns[row.string(0), default: []].append(
                StoreTable.Column(name: row.string(1), type: row.bool(2) ? .bytes : .number))
        }
        var keys: [String: [String]] = [:]
        try connection.rows(
            """
            SELECT pg_class.relname, attname
            FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
                CROSS JOIN unnest(indkey) WITH ORDINALITY AS part (attnum, place)
                JOIN pg_attribute ON attrelid = indrelid AND pg_attribute.attnum = part.attnum
            WHERE indisprimary AND relnamespace = 'public'::regnamespace
            ORDER BY place
            """
        ) { row in keys[row.string(0), default: []].append(row.string(1)) }
        return columns.filter { !PostgresSchema.ownTables.contains($0.key) }
            .map { StoreTable(name: $0.key, columns: $0.value, key: keys[$0.key] ?? []) }
            .sorted { $0.name < $1.name }
    }

    package func rows(of table: StoreTable, _ body: ([CopiedValue]) throws -> Void) throws {
        // What is read is in a transaction of its own: a cursor lasts as long.
        defer { connection.rollback() }
        connection.enqueue("BEGIN READ ONLY")
        connection.enqueueOnce(
            """
            DECLARE copied NO SCROLL CURSOR FOR SELECT \(Self.names(of: table))
            FROM "\(table.name)" ORDER BY \(table.key.map { "\"\($0)\"" }.joined(separator: ", "))
            """)
        var count: Int
        repeat {
            count = try connection.rows("FETCH \(Self.rowsAtOnce) FROM copied") { row in
                try body(
                    table.columns.enumerated().map { index, column in
                        if row.isNull(index) { return .null }
                        return column.type == .number
                            ? .number(row.int(index)) : .bytes([UInt8](row.bytes(index)))
                    })
            }
        } while count == Self.rowsAtOnce
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
                guard rows.count == Self.rowsAtOnce || bytes >= Self.bytesAtOnce else { return }
                try insert(rows, into: table)
                (rows, bytes) = ([], 0)
            }
            if !rows.isEmpty { try insert(rows, into: table) }
        } catch {
            connection.rollback()
            throw error
        }
        try commit()
    }

    private func insert(_ rows: [[CopiedValue]], into table: StoreTable) throws {
        let columns = table.columns.enumerated().map { index, column -> PostgresValue in
            switch column.type {
            case .number:
                .int64Array(
                    rows.map { if case .number(let number) = $0[index] { number } else { nil } })
            case .bytes:
                .byteaArray(
                    rows.map { if case .bytes(let bytes) = $0[index] { bytes } else { nil } })
            }
        }
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO \"\(table.name)\" (\(Self.names(of: table))) SELECT * FROM unnest(\(places))",
            columns)
    }

    private static func names(of table: StoreTable) -> String {
        table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
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
        try commit()
    }

    private func commit() throws {
        switch connection.commit() {
        case .committed: break
        case .notCommitted(let error), .unknown(let error): throw error
        }
    }
}
