// SPDX-License-Identifier: Apache-2.0
import StoreConformance
import Testing

@Suite("SQLite keeps the store contract")
struct ContractTests {
    @Test("The store contract", arguments: StoreConformance.checks)
    func contract(check: Check) async throws {
        try await check.run(on: SQLiteEngine())
    }
}
