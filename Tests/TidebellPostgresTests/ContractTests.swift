// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPostgres

@testable import StoreConformance

@Suite("PostgreSQL keeps the store contract", .hangs)
struct ContractTests {
    @Test("The store contract, on PostgreSQL", arguments: StoreConformance.checks)
    func contract(check: Check) async throws {
        try await check.run(on: PostgresEngine())
    }

    // What a node does in another way. `TIDEBELL_TEST_STORE=postgres-node` runs everything on one.
    @Test(
        "The store contract, on PostgreSQL as a node",
        arguments: StoreConformance.leases + StoreConformance.webhooks
            + StoreConformance.pushTargets + StoreConformance.transactions
            + StoreConformance.scopes)
    func contractOfNode(check: Check) async throws {
        try await check.run(on: PostgresEngine(as: NodeName("a")))
    }

    // `TIDEBELL_TEST_STORE=postgres-cells` runs everything on one.
    @Test("The store contract, on a store in several cells", arguments: StoreConformance.checks)
    func contractOfCells(check: Check) async throws {
        try await check.run(on: PostgresEngine(hasCells: true))
    }
}
