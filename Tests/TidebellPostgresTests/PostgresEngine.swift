// SPDX-License-Identifier: Apache-2.0
import Foundation
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
    /// Whether the stores are spread over two cells beside that of the directory.
    private let hasCells: Bool
    private let addresses = Mutex<[ObjectIdentifier: String]>([:])

    init(as node: NodeName? = nil, hasCells: Bool = false) {
        self.node = node
        self.hasCells = hasCells
    }

    func makeStore() async throws -> any Store {
        try open(at: hasCells ? Self.addressInCells() : Self.addressOfNewDatabase())
    }

    /// The databases of a cloud in cells that nobody opened yet, the directory's first.
    private static let templates = Mutex<[String]>([])

    /// The address of a copy of it, which takes less time than to make one.
    private static func addressInCells() throws -> String {
        let templates = try templates.withLock { known in
            if known.isEmpty {
                let server = try PostgresTestServer.shared.get()
                known = (0..<3).map { _ in server.makeDatabaseName() }
                for name in known { _ = try addressOfNewDatabase(named: name) }
                try addCells(
                    to: server.address(database: known[0]),
                    known.dropFirst().map { server.address(database: $0) })
            }
            return known
        }
        let addresses = try templates.map { try addressOfNewDatabase(copying: $0) }
        let directory = try PostgresConnection(PostgresAddress(addresses[0]))
        defer { directory.close() }
        for (number, address) in addresses.enumerated().dropFirst() {
            try directory.execute(
                "UPDATE cell SET address = $2 WHERE number = $1",
                [.int64(Int64(number)), .text(address)])
        }
        return addresses[0]
    }

    /// Adds two cells to a new cloud, whose directory's gets no records.
    static func addCells(to directory: String) throws {
        try addCells(to: directory, (0..<2).map { _ in try addressOfNewDatabase() })
    }

    private static func addCells(to directory: String, _ databases: [String]) throws {
        let address = try PostgresAddress(directory)
        for (name, database) in zip(["east", "west"], databases) {
            try CellDirectory.add(
                name, at: database, to: address,
                identity: .random(in: .min ... .max))
        }
        try CellDirectory.change("directory", takesNew: false, in: address)
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

    /// Removes the database of a cell, under whoever uses it.
    static func drop(cell name: String, of directory: String) throws {
        var address = ""
        let connection = try PostgresConnection(PostgresAddress(directory))
        defer { connection.close() }
        try connection.rows("SELECT address FROM cell WHERE name = $1", [.text(name)]) {
            address = $0.string(0)
        }
        let cell = try PostgresConnection(PostgresAddress(address))
        var database = ""
        try cell.rows("SELECT current_database()::text::bytea") { database = $0.string(0) }
        cell.close()
        let admin = try PostgresConnection(
            PostgresAddress(PostgresTestServer.shared.get().address()))
        defer { admin.close() }
        admin.enqueueOnce("DROP DATABASE \(database) WITH (FORCE)")
        try admin.sync()
    }

    /// The address of a database that was given a name.
    static func address(of name: String) throws -> String {
        try PostgresTestServer.shared.get().address(database: name)
    }

    private func open(at address: String) throws -> any Store {
        let store = try PostgresFactory(address, as: node).open(
            in: FileManager.default.temporaryDirectory, for: .serving, bounds: StoreBounds(),
            time: .system, randomness: .system)
        addresses.withLock { $0[ObjectIdentifier(store as AnyObject)] = address }
        return store
    }

    private func address(of store: any Store) throws -> String {
        let found = addresses.withLock { $0[ObjectIdentifier(store as AnyObject)] }
        guard let found else { throw WrongEngine() }
        return found
    }
}

private struct WrongEngine: Error {}
