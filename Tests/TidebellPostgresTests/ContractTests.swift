// SPDX-License-Identifier: Apache-2.0
import StoreConformance
import TestSupport
import Testing
import TidebellCore

@Suite("PostgreSQL keeps the store contract", .hangs)
struct ContractTests {
    @Test("The store contract, on PostgreSQL", arguments: StoreConformance.checks)
    func contract(check: Check) async throws {
        try await check.run(on: PostgresEngine())
    }
}
