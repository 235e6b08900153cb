// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import TestSupport
import Testing
import TidebellPostgresClient

@Suite(.hangs) struct CommitTests {
    @Test func `A commit after a statement that failed is none`() throws {
        let connection = try TestDatabase().connect()
        connection.enqueue("BEGIN")
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1 / 0") }
        guard case .notCommitted = connection.commit() else {
            Issue.record("it was committed")
            return
        }
        #expect(!connection.isInTransaction)
    }

    @Test func `A connection that has ended does not report a commit`() throws {
        let database = try TestDatabase()
        let connection = try database.connect()
        let other = try database.connect()
        try connection.execute("BEGIN")
        try other.execute(
            "SELECT pg_terminate_backend($1::int8::int4, 5000)",
            [.int64(Int64(connection.serverProcess))])
        let outcome = connection.commit()
        #expect(outcome != .committed)
        #expect(connection.failure != nil)
    }

    @Test func `A server that is killed leaves a commit unknown, and is reached again later`()
        throws
    {
        let server = try PostgresTestServer()
        defer { server.end() }
        let database = try TestDatabase(on: server)
        let connection = try database.connect()
        try connection.execute("BEGIN")
        try server.tell(.kill)
        let outcome = connection.commit()
        guard case .unknown(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        // A process of the server that was killed last may have told why.
        #expect([.connectionLost, .unavailable].contains(error.kind))
        let refused = #expect(throws: PostgresError.self) { try database.connect() }
        #expect(refused?.kind == .cannotConnect)
        try server.tell(.start)
        #expect(try database.connect().number("SELECT 1") == 1)
    }
}
