// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import TidebellPostgresClient

/// A new, empty database.
struct TestDatabase {
    let server: PostgresTestServer
    let address: PostgresAddress
    let name: String

    /// Makes one on a server; on the shared one unless another is given.
    init(on server: PostgresTestServer? = nil) throws {
        self.server = try server ?? PostgresTestServer.shared.get()
        name = self.server.makeDatabaseName()
        let admin = try PostgresConnection(PostgresAddress(self.server.address()))
        admin.enqueueOnce("CREATE DATABASE \(name) TEMPLATE template0")
        try admin.sync()
        address = try PostgresAddress(self.server.address(database: name))
    }

    func connect(statementLimit: Int = 256) throws -> PostgresConnection {
        try PostgresConnection(address, statementLimit: statementLimit)
    }
}

extension PostgresConnection {
    /// The rows of a statement, read by a closure.
    func all<Value>(
        _ sql: String, _ values: [PostgresValue] = [], _ read: (PostgresRow) throws -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        try rows(sql, values) { found.append(try read($0)) }
        return found
    }

    /// The whole number that a statement returns.
    func number(_ sql: String, _ values: [PostgresValue] = []) throws -> Int64? {
        try all(sql, values) { $0.int(0) }.first
    }
}
