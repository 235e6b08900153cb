// SPDX-License-Identifier: Apache-2.0
import TidebellPostgresClient
import TidebellSQL

// The rows of a store as they are copied, whatever they mean.
extension PostgresConnection {
    /// How many rows are read or written at once.
    static let rowsAtOnce = 500

    /// The tables of a store, by name, but for those that are no rows of a cloud.
    func storeTables() throws -> [StoreTable] {
        var columns: [String: [StoreTable.Column]] = [:]
        try rows(
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
        try rows(
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

    /// Calls `body` with some rows of a table after the others, in the order of its key, within a transaction; returns
    /// how many there are.
    ///
    /// - Parameter condition: Which rows, with `values`.
    @discardableResult
    func storeRows(
        of table: StoreTable, where condition: String = "true", _ values: [PostgresValue] = [],
        _ body: ([[CopiedValue]]) throws -> Void
    ) throws -> Int {
        enqueueOnce(
            """
            DECLARE copied NO SCROLL CURSOR FOR SELECT \(Self.names(of: table))
            FROM "\(table.name)" WHERE \(condition)
            ORDER BY \(table.key.map { "\"\($0)\"" }.joined(separator: ", "))
            """, values)
        var (count, all) = (0, 0)
        repeat {
            var page: [[CopiedValue]] = []
            count = try rows("FETCH \(Self.rowsAtOnce) FROM copied") { row in
                page.append(
                    table.columns.enumerated().map { index, column in
                        if row.isNull(index) { return .null }
                        return column.type == .number
                            ? .number(row.int(index)) : .bytes([UInt8](row.bytes(index)))
                    })
            }
            all += count
            if !page.isEmpty { try body(page) }
        } while count == Self.rowsAtOnce
        enqueue("CLOSE copied")
        return all
    }

    /// Adds rows to a table.
    ///
    /// - Parameter unlessThere: Whether those are left out that there are already.
    func insert(
        _ rows: [[CopiedValue]], into table: StoreTable, unlessThere: Bool = false
    ) throws {
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
        try execute(
            """
            INSERT INTO "\(table.name)" (\(Self.names(of: table)))
            SELECT * FROM unnest(\(places))\(unlessThere ? " ON CONFLICT DO NOTHING" : "")
            """, columns)
    }

    private static func names(of table: StoreTable) -> String {
        table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    }
}
