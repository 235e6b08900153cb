// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import TestSupport
import Testing
import TidebellPostgresClient
import TidebellScheduling

@Suite(.hangs) struct PoolTests {
    private func makePool(_ limits: PostgresPool.Limits) throws -> PostgresPool {
        PostgresPool(
            try TestDatabase().address, limits: limits, time: .system, randomness: .system)
    }

    @Test func `Work shares few connections, and closing ends them`() async throws {
        let pool = try makePool(PostgresPool.Limits(connections: 3))
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in Int64(0)..<100 {
                group.addTask {
                    try await pool.run { try $0.number("SELECT $1", [.int64(number)]) ?? -1 }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 4950)
        #expect(pool.connectionCount <= 3)
        await pool.close()
        #expect(pool.connectionCount == 0)
        await #expect(throws: PostgresPool.Refusal.closed) { try await pool.run { _ in } }
    }

    @Test func `A read whose task is cancelled is cut short`() async throws {
        let pool = try makePool(PostgresPool.Limits(connections: 1))
        let begun = Gate()
        let task = Task {
            try await pool.run(.read) { connection in
                begun.open()
                try connection.execute("SELECT pg_sleep(10000)")
            }
        }
        await begun.wait()
        // The request may come before the statement: then another one follows.
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let number = try await pool.run { try $0.number("SELECT 1") }
        #expect(number == 1)
        await pool.close()
    }

    @Test func `A broken connection is not used again`() async throws {
        let pool = try makePool(PostgresPool.Limits(connections: 1))
        await #expect(throws: PostgresError.self) {
            try await pool.run { try $0.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
        }
        let number = try await pool.run { try $0.number("SELECT 1") }
        #expect(number == 1)
        await pool.close()
    }
}
