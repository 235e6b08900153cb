// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import Synchronization
import TidebellCore
import TidebellPostgres
import TidebellPostgresClient
import TidebellScheduling
import TidebellTestStores

/// Opens the stores of tests in databases of the server that tests share: `TIDEBELL_TEST_STORE=postgres`, as the only
/// one of several nodes that might serve them (`postgres-node`), or spread over cells (`postgres-cells`).
///
/// A data folder names its database in a file. The test kit, which is built without PostgreSQL, does not
/// know of this engine: what is linked with `CPostgresTestStores` makes it known before any test.
private final class PostgresTestStores: StoreFactory {
    /// Connections of one store that read: hundreds of stores are open at once.
    private static let readers = 2
    private static let fileName = "postgres-database"

    private let node: NodeName?
    /// How many cells there are beside the directory's.
    private let cells: Int
    /// What new databases are copies of.
    private let templates = Mutex<[String]>([])
    /// The databases of the folders.
    private let databases = Mutex<[String: [String]]>([:])

    init(as node: NodeName? = nil, cells: Int = 0) {
        self.node = node
        self.cells = cells
    }

    var isInDataFolder: Bool { false }

    func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        let stores: PostgresFactory
        do {
            stores = try PostgresFactory(
                address(of: folder), as: node, readers: Self.readers)
        } catch {
            throw .unreachable(reason: "\(error)")
        }
        return try stores.open(
            in: folder, for: purpose, bounds: bounds, time: time, randomness: randomness)
    }

    /// The address of a folder's database, made if there is none.
    private func address(of folder: URL) throws -> String {
        let server = try PostgresTestServer.shared.get()
        let file = folder.appendingPathComponent(Self.fileName)
        if let name = try? String(contentsOf: file, encoding: .utf8) {
            return server.address(database: name)
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let names = (0...cells).map { _ in server.makeDatabaseName() }
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        defer { admin.close() }
        for unused in takeUnused() {
            admin.enqueueOnce("DROP DATABASE \(unused) WITH (FORCE)")
            try admin.sync()
        }
        let templates = try templates.withLock { known in
            if known.isEmpty { known = try makeTemplates(server, admin) }
            return known
        }
        for (name, template) in zip(names, templates) {
            admin.enqueueOnce("CREATE DATABASE \(name) TEMPLATE \(template)")
            try admin.sync()
        }
        try names[0].write(to: file, atomically: true, encoding: .utf8)
        databases.withLock { $0[file.path] = names }
        if cells > 0 { try part(names.map { server.address(database: $0) }) }
        return server.address(database: names[0])
    }

    /// What databases are copied of: an empty one, or those of a cloud in cells, the first of which has the directory and
    /// no records.
    private func makeTemplates(
        _ server: PostgresTestServer, _ admin: PostgresConnection
    ) throws -> [String] {
        guard cells > 0 else { return ["template0"] }
        let names = (0...cells).map { _ in server.makeDatabaseName() }
        for name in names {
            admin.enqueueOnce("CREATE DATABASE \(name) TEMPLATE template0")
            try admin.sync()
        }
        let directory = try PostgresAddress(server.address(database: names[0]))
        for (number, name) in names.enumerated().dropFirst() {
            try CellDirectory.add(
                "cell-\(number)", at: server.address(database: name), to: directory, identity: 1)
        }
        try CellDirectory.change("directory", takesNew: false, in: directory)
        return names
    }

    /// Makes a cloud of its own of copies.
    private func part(_ addresses: [String]) throws {
        let identity = Int64.random(in: .min ... .max)
        for (number, address) in addresses.enumerated() {
            let connection = try PostgresConnection(PostgresAddress(address))
            defer { connection.close() }
            try connection.execute("UPDATE store SET identity = $1", [.int64(identity)])
            guard number == 0 else { continue }
            for (number, address) in addresses.enumerated().dropFirst() {
                try connection.execute(
                    "UPDATE cell SET address = $2 WHERE number = $1",
                    [.int64(Int64(number)), .text(address)])
            }
        }
    }

    /// Takes the databases whose folders are gone, with their tests.
    private func takeUnused() -> [String] {
        databases.withLock { databases in
            let gone = databases.filter { !FileManager.default.fileExists(atPath: $0.key) }
            for path in gone.keys { databases[path] = nil }
            return gone.values.joined().sorted()
        }
    }
}

/// Called before `main`.
@_cdecl("tidebell_register_postgres_test_stores")
func registerPostgresTestStores() {
    TestStores.register(PostgresTestStores(), named: "postgres")
    TestStores.register(PostgresTestStores(as: NodeName("a")), named: "postgres-node")
    TestStores.register(PostgresTestStores(cells: 2), named: "postgres-cells")
}
