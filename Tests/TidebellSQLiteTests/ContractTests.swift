// SPDX-License-Identifier: Apache-2.0
import StoreConformance
import Testing
import TidebellCore
import TidebellTestStores

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("SQLite keeps the store contract")
struct ContractTests {
    @Test("The store contract", arguments: StoreConformance.checks)
    func contract(check: Check) async throws {
        try await check.run(on: SQLiteEngine())
    }

    @Test(
        "The store contract, where the body of every write runs twice and is undone once",
        arguments: StoreConformance.checks)
    func repeated(check: Check) async throws {
        try await check.run(on: RepeatingEngine())
    }

    @Test(
        "The store contract, where the outbox of each database has positions of its own",
        arguments: StoreConformance.checks)
    func outboxesApart(check: Check) async throws {
        try await check.run(on: SQLiteEngine(outboxNumbers: .perDatabase))
    }
}

/// SQLite stores that run the body of every write twice.
private struct RepeatingEngine: StoreEngine {
    private let engine = SQLiteEngine()

    func makeStore() async throws -> any Store {
        try repeating(try await engine.makeStore())
    }

    func reopen(_ store: any Store) async throws -> any Store {
        try repeating(try await engine.reopen(try base(of: store)))
    }

    func remove(_ store: any Store) async throws {
        try await engine.remove(try base(of: store))
    }

    private func repeating(_ store: any Store) throws -> any Store {
        RepeatingStore(try #require(store as? SQLiteStore))
    }

    private func base(of store: any Store) throws -> any Store {
        try #require(store as? RepeatingStore).base
    }
}
