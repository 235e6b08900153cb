// SPDX-License-Identifier: Apache-2.0
import PostgresTestServer
import StoreConformance
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling

@testable import TidebellPostgres

/// Stores in databases of their own on the server that tests share.
final class PostgresEngine: StoreEngine {
    /// What steps write is found out on SQLite, with the same statements.
    let checksScopes = false

    /// How the stores are served: by a server that is alone, or as a node that could share them.
    private let node: NodeName?
    private let addresses = Mutex<[ObjectIdentifier: PostgresAddress]>([:])

    init(as node: NodeName? = nil) { self.node = node }

    func makeStore() async throws -> any Store {
        try open(at: Self.makeDatabase())
    }

    func reopen(_ store: any Store) async throws -> any Store {
        let address = try address(of: store)
        try await store.close()
        return try open(at: address)
    }

    func remove(_ store: any Store) async throws {
        _ = try address(of: store)
        try await store.close()
    }

    /// Makes an empty database, or a copy of one; it goes with the server.
    static func makeDatabase(
        named name: String? = nil, copying template: String = "template0"
    ) throws -> PostgresAddress {
        try PostgresAddress(addressOfNewDatabase(named: name, copying: template))
    }

    /// The same, as an operator writes its address.
    static func addressOfNewDatabase(
        named name: String? = nil, copying template: String = "template0"
    ) throws -> String {
        let server = try PostgresTestServer.shared.get()
        let name = name ?? server.makeDatabaseName()
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        admin.enqueueOnce("CREATE DATABASE \(name) TEMPLATE \(template)")
        try admin.sync()
        return server.address(database: name)
    }

    /// The address of a database that was given a name.
    static func address(of name: String) throws -> String {
        try PostgresTestServer.shared.get().address(database: name)
    }

    private func open(at address: PostgresAddress) throws -> any Store {
        let store = try PostgresStore.open(
            at: address, as: node, time: .system, randomness: .system)
        addresses.withLock { $0[ObjectIdentifier(store)] = address }
        return store
    }

    private func address(of store: any Store) throws -> PostgresAddress {
        let found = (store as? PostgresStore).flatMap { store in
            addresses.withLock { $0[ObjectIdentifier(store)] }
        }
        guard let found else { throw WrongEngine() }
        return found
    }
}

private struct WrongEngine: Error {}
