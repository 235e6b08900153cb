// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellWire

/// What every cell has a copy of, so that no request asks the directory for it: the schemas of containers, API tokens, and
/// which containers have webhooks.
///
/// The directory's are what counts. API tokens and webhooks are written in all cells by one step, in the directory last: one that
/// failed there may be in others, where nobody knows it. A schema, by which
/// records are judged, is copied after the directory's was committed (``CellTransaction/copySchema(of:to:)``): a cell never has what
/// the directory has not, and where it lacks something, the save that needs it brings it again.
enum CatalogueCopies {
    /// The tables of a container's schema; the first has its revision.
    private static let ofSchemas = [
        "schema_revision", "field_type", "private_field", "schema_trait",
    ]

    /// Tables of all containers, each with the columns that differ in a copy: a cell need not know where webhooks lead.
    private static let others = [
        ("api_token", ""), ("webhook", ", ''::bytea AS url, ''::bytea AS secret"),
    ]

    /// What of the copies is compared: two revisions of a schema are never the same.
    private static let compared = [
        ("schema_revision", ""), ("api_token", " - 'used_at'"),
        ("webhook", " - 'url' - 'secret' - 'delivered' - 'disabled_reason'"),
    ]

    /// Gives cells what they lack of what the directory says: one that was added since servers ran last, that came back older, or
    /// of which a copy failed.
    ///
    /// Nobody writes in the directory while something is copied; whoever writes there for longer keeps the server from starting.
    static func mend(_ cells: [CellMap.Cell], of directory: PostgresAddress) throws {
        let connection = try PostgresConnection(directory)
        defer { connection.close() }
        try refuseOlderCode(on: connection)
        for cell in cells {
            guard let address = cell.address else { continue }
            let other = try PostgresConnection(PostgresAddress(address))
            defer { other.close() }
            try refuseOlderCode(on: other)
            func differs() throws -> Bool {
                try state(on: other) != state(on: connection)
                    || disabled(on: other, in: cell.number)
                        != disabled(on: connection, in: cell.number)
            }
            guard try differs() else { continue }
            connection.enqueue("BEGIN")
            connection.enqueue("SET LOCAL lock_timeout = '\(patience)s'")
            connection.enqueue("SELECT pg_advisory_xact_lock($1)", [.int64(ScopeLocks.store)])
            // A step that was under way may have made it the same.
            if try differs() {
                other.enqueue("BEGIN")
                for table in ofSchemas { try copy(table, from: connection, to: other) }
                for (table, differing) in others {
                    try copy(table, differing: differing, from: connection, to: other)
                }
                other.enqueue(
                    """
                    UPDATE account SET disabled = 1 - disabled
                    WHERE (disabled = 1) <> (id = ANY($1))
                    """, [.int64Array(try disabled(on: connection, in: cell.number))])
                try other.commitOrThrow()
            }
            connection.rollback()
        }
    }

    /// Seconds that a server which starts waits for those who write.
    private static let patience = 20

    /// What is to be the same in all cells, in short.
    private static func state(on connection: PostgresConnection) throws -> [String] {
        try compared.map { table, others in
            var state = ""
            try connection.rows(
                """
                SELECT md5(coalesce(string_agg(row::text, ',' ORDER BY row), ''))
                FROM (SELECT to_jsonb(\(table))\(others) AS row FROM \(table)) AS rows
                """
            ) { state = $0.string(0) }
            return state
        }
    }

    /// Code that knows of no copies would change the directory's alone.
    private static func refuseOlderCode(on connection: PostgresConnection) throws {
        try connection.execute(
            "UPDATE tidebell_schema SET oldest_code = $1 WHERE oldest_code < $1",
            [.int64(PostgresSchema.firstWithCells)])
    }

    /// The accounts of a cell that are disabled, as a database has it.
    private static func disabled(
        on connection: PostgresConnection, in cell: CellNumber
    ) throws -> [Int64] {
        var disabled: [Int64] = []
        let end = CellNumber(rawValue: cell.rawValue + 1).start
        try connection.rows(
            "SELECT id FROM account WHERE disabled = 1 AND id > $1 AND id < $2 ORDER BY id",
            [.int64(cell.start), .int64(end)]
        ) { disabled.append($0.int(0)) }
        return disabled
    }

    /// Replaces a container's schema in a cell by the directory's.
    static func copySchema(
        of container: ContainerKey, from directory: PostgresConnection,
        to other: PostgresConnection
    ) throws {
        for table in ofSchemas { try copy(table, of: container, from: directory, to: other) }
    }

    /// Replaces rows of a table.
    ///
    /// - Parameters:
    ///   - container: Whose; nil for all.
    ///   - differing: What stands instead of columns of the same names.
    private static func copy(
        _ table: String, differing: String = "", of container: ContainerKey? = nil,
        from source: PostgresConnection, to target: PostgresConnection
    ) throws {
        let condition = container == nil ? "" : "WHERE container = $1 AND environment = $2"
        let names: [PostgresValue] =
            container.map { [.text($0.container), .text($0.environment.rawValue)] } ?? []
        var rows = "[]"
        try source.rows(
            """
            SELECT coalesce(json_agg(to_jsonb(found) || to_jsonb(instead)), '[]')::text
            FROM (SELECT * FROM \(table) \(condition)) AS found
                CROSS JOIN (SELECT 1 AS one\(differing)) AS instead
            """, names
        ) { rows = $0.string(0) }
        target.enqueue("DELETE FROM \(table) \(condition)", names)
        try target.execute(
            """
            INSERT INTO \(table) SELECT * FROM json_populate_recordset(
                NULL::\(table), convert_from($1, 'UTF8')::json)
            """, [.text(rows)])
    }
}
