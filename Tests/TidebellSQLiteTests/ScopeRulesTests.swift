// SPDX-License-Identifier: Apache-2.0
import GRDB
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Scopes of tables")
struct ScopeRulesTests {
    @Test("Every table of a store has a rule of scope, and no other has one")
    func complete() async throws {
        let engine = SQLiteEngine()
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        let tables = try await store.pool.read {
            try String.fetchSet(
                $0,
                sql: """
                    SELECT name FROM sqlite_schema WHERE type = 'table'
                        AND name NOT LIKE 'sqlite_%' AND name <> 'grdb_migrations'
                    """
            )
        }
        #expect(Set(ScopeRules.tables.keys) == tables)
        try await engine.remove(store)
    }

    @Test("A write outside of the step's scope is named by its table")
    func message() async throws {
        let engine = SQLiteEngine()
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        let error = await #expect(throws: DatabaseError.self) {
            try await store.write(.user(UserID(rawValue: 1))) {
                try $0.putBadges([UserID(rawValue: 2): 1])
            }
        }
        #expect(error?.message == #"a step wrote to "badge" outside of its scope"#)
        try await engine.remove(store)
    }

    @Test("What makes tables anew is not in the way of the check, nor the check of it")
    func remade() async throws {
        let engine = SQLiteEngine()
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        try await store.writeAlone { transaction in
            let zone = try transaction.connection.first(
                "SELECT sql FROM sqlite_schema WHERE name = 'zone'"
            ) { $0.text(0) }
            try transaction.connection.run("DROP TABLE zone")
            try transaction.connection.run(try #require(zone))
        }
        let key = DatabaseKey(
            container: ContainerKey(container: "notes", environment: .development),
            scope: .public, owner: nil
        )
        let database = try await store.write(.database(key)) { try $0.makeDatabase(key) }
        await #expect(throws: DatabaseError.self) {
            try await store.write(.store) {
                try $0.createZones([("diary", Position(rawValue: 1))], in: database.id)
            }
        }
        try await engine.remove(store)
    }
}
