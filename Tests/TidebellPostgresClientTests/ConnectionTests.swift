// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import TestSupport
import Testing
import TidebellPostgresClient

@Suite(.hangs) struct ConnectionTests {
    @Test func `What a server refuses a connection for is known by its code`() throws {
        let address = try PostgresAddress(
            PostgresTestServer.shared.get().address(database: "nowhere"))
        let error = #expect(throws: PostgresError.self) { try PostgresConnection(address) }
        #expect(error?.code == "3D000" && error?.kind == .notAuthorized)
    }

    @Test func `What was sent before goes in the same round trip`() throws {
        let connection = try TestDatabase().connect()
        connection.enqueueOnce("CREATE TABLE t (a int8, b bytea)")
        connection.enqueue("BEGIN")
        connection.enqueue("INSERT INTO t VALUES ($1, $2)", [.int64(1), .text("one")])
        connection.enqueue("INSERT INTO t VALUES ($1, $2)", [.int64(2), .null(.bytea)])
        #expect(connection.commit() == .committed)
        #expect(connection.roundTrips == 1)
        let rows = try connection.all("SELECT a, b FROM t ORDER BY a") {
            "\($0.int(0)) \($0.isNull(1) ? "NULL" : $0.string(1))"
        }
        #expect(rows == ["1 one", "2 NULL"])
        #expect(connection.roundTrips == 2)
    }

    @Test func `Rows are kept for whoever asks for them later, as often as they like`() throws {
        let connection = try TestDatabase().connect()
        let (numbers, none, failed) = (PostgresAnswer(), PostgresAnswer(), PostgresAnswer())
        connection.enqueue("SELECT generate_series(1, $1)", [.int64(3)], keeping: numbers)
        connection.enqueue("SELECT 1 WHERE false", keeping: none)
        #expect(!numbers.hasCome && numbers.count == 0)
        try connection.sync()
        #expect(numbers.hasCome && none.hasCome && numbers.count == 3 && none.count == 0)
        connection.enqueue("SELECT 1 / 0", keeping: failed)
        #expect(throws: PostgresError.self) { try connection.sync() }
        #expect(!failed.hasCome)
        connection.close()
        for _ in 1...2 {
            var found: [Int64] = []
            try numbers.rows { found.append($0.int(0)) }
            #expect(found == [1, 2, 3])
        }
        #expect(throws: PostgresError.self) { try numbers.rows { _ = $0.string(0) } }
    }

    @Test func `The end of a read is not waited for, and takes its snapshot with it`() throws {
        let database = try TestDatabase()
        let (connection, other) = (try database.connect(), try database.connect())
        try other.execute("CREATE TABLE t (a int8)")
        for number in 1...3 as ClosedRange<Int64> {
            try other.execute("INSERT INTO t VALUES ($1)", [.int64(number)])
            connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            #expect(try connection.all("SELECT count(*) FROM t") { $0.int(0) } == [number])
            connection.endRead()
            #expect(connection.roundTrips == Int(number))
            #expect(connection.isAlive)
        }
        try connection.sync()
        #expect(!connection.isInTransaction)
    }
}
