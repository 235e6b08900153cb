// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellPostgresClient

@Suite(.hangs) struct ConnectionTests {
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
}
