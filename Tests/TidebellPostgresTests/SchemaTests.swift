// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellPostgresClient
import TidebellScheduling

@testable import TidebellPostgres
@testable import TidebellSQLite

@Suite("The tables of PostgreSQL", .hangs)
struct SchemaTests {
    /// A column: its table, its name, whether it may be NULL, and whether it holds bytes.
    private struct Column: Hashable, CustomStringConvertible {
        var table: String
        var name: String
        var isOptional: Bool
        var holdsBytes: Bool

        var description: String {
            "\(table).\(name)\(isOptional ? "?" : "") \(holdsBytes ? "bytes" : "number")"
        }
    }

    @Test("Both engines have the same tables and columns")
    func sameColumns() async throws {
        let address = try PostgresEngine.makeDatabase()
        let store = try PostgresStore.open(at: address, time: .system, randomness: .system)
        try await store.close()
        let (ours, theirs) = (try columns(at: address), try await columnsOfSQLite())
        #expect(ours.subtracting(theirs).map(\.description).sorted() == [])
        #expect(theirs.subtracting(ours).map(\.description).sorted() == [])
    }

    @Test("A second server is refused, and the store is served again once the first is gone")
    func secondServer() async throws {
        let address = try PostgresEngine.makeDatabase()
        let first = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(throws: (any Error).self) {
            try PostgresStore.open(at: address, time: .system, randomness: .system)
        }
        try await first.close()
        let second = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(second.identity == first.identity)
        try await second.close()
    }

    @Test("A store that is found in another history than before begins a new life")
    func otherLineage() async throws {
        let address = try PostgresEngine.makeDatabase(named: "original")
        let first = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(!first.cameBackOlder)
        try await first.close()
        let again = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(!again.cameBackOlder)
        #expect(again.incarnation == first.incarnation)
        try await again.close()

        // As a dump that is restored in another database.
        let copy = try PostgresEngine.makeDatabase(copying: "original")
        let restored = try PostgresStore.open(at: copy, time: .system, randomness: .system)
        #expect(restored.cameBackOlder)
        #expect(restored.identity == first.identity)
        #expect(restored.incarnation > first.incarnation)
        try await restored.close()

        // As OPERATING.md has it after a restore: a base backup alone has the history of before.
        let admin = try PostgresConnection(copy)
        try admin.execute("UPDATE tidebell_schema SET lineage = 'restored'")
        admin.close()
        let told = try PostgresStore.open(at: copy, time: .system, randomness: .system)
        #expect(told.cameBackOlder)
        #expect(told.incarnation > restored.incarnation)
        try await told.close()
    }

    private func columns(at address: PostgresAddress) throws -> Set<Column> {
        let connection = try PostgresConnection(address)
        var found: Set<Column> = []
        try connection.rows(
            """
            SELECT pg_class.relname, attname, NOT attnotnull, format_type(atttypid, NULL)
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0
            """
        ) { row in
            found.insert(
                Column(
                    table: row.string(0), name: row.string(1), isOptional: row.bool(2),
                    holdsBytes: row.string(3) == "bytea"))
        }
        return found.filter { !PostgresSchema.ownTables.contains($0.table) }
    }

    private func columnsOfSQLite() async throws -> Set<Column> {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-schema-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore.open(
            at: folder.appendingPathComponent("tidebell.sqlite").path, time: .system,
            randomness: .system)
        let found = try await store.pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT made.name, field.name, NOT (field."notnull" OR field.pk), field.type
                    FROM sqlite_schema AS made CROSS JOIN pragma_table_info(made.name) AS field
                    WHERE made.type = 'table'
                        AND made.name NOT IN ('sqlite_sequence', 'grdb_migrations')
                    """
            ).map { row in
                Column(
                    table: row[0], name: row[1], isOptional: row[2],
                    holdsBytes: row[3] != "INTEGER")
            }
        }
        try await store.close()
        return Set(found)
    }
}
