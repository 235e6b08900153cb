// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import TestSupport
import Testing
import TidebellPostgresClient

@Suite(.hangs) struct PipelineTests {
    @Test func `A hundred thousand statements with big answers do not block one another`() throws {
        let connection = try TestDatabase().connect()
        var count = 0
        for number in 0..<100_000 {
            connection.enqueue("SELECT $1, repeat('x', 2000)", [.int64(Int64(number))]) { row in
                if row.int(0) == Int64(count), row.bytes(1).count == 2000 { count += 1 }
            }
        }
        try connection.sync()
        #expect(count == 100_000)
        #expect(connection.roundTrips == 1)
        #expect(connection.preparedCount == 1)
    }

    @Test func `An error skips what follows it and names its statement`() throws {
        let connection = try TestDatabase().connect()
        connection.enqueueOnce("CREATE TABLE t (a int8 CONSTRAINT one_a UNIQUE)")
        try connection.sync()
        connection.enqueue("BEGIN")
        connection.enqueue("INSERT INTO t VALUES ($1)", [.int64(1)])
        connection.enqueue("INSERT INTO t VALUES ($1)", [.int64(1)])
        connection.enqueue("SELECT 1 / (a - 1) FROM t")
        let outcome = connection.commit()
        guard case .notCommitted(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.kind == .uniqueViolation)
        #expect(error.constraint == "one_a")
        #expect(error.sql == "INSERT INTO t VALUES ($1)")
        #expect(!connection.isInTransaction)
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `No more statements stay prepared than the limit says, and none that failed`()
        throws
    {
        let connection = try TestDatabase().connect(statementLimit: 3)
        for number in 0..<10 {
            #expect(try connection.number("SELECT \(number)") == Int64(number))
        }
        #expect(throws: PostgresError.self) {
            try connection.sync(); try connection.execute("NO")
        }
        let names = try connection.number("SELECT count(*) FROM pg_prepared_statements")
        #expect(connection.preparedCount == 3)
        #expect((names ?? 0) <= 4)
        connection.enqueue("BEGIN")
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1 / 0") }
        connection.rollback()
        #expect(try connection.number("SELECT 5") == 5)
    }
}
