// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import Synchronization
import TidebellCore
import TidebellPostgres
import TidebellPostgresClient
import TidebellScheduling
import TidebellTestStores

/// Opens the stores of tests in databases of the server that tests share: `TIDEBELL_TEST_STORE=postgres`, or as
/// the only one of several nodes that might serve them (`postgres-node`).
///
/// A data folder names its database in a file. The test kit, which is built without PostgreSQL, does not
/// know of this engine: what is linked with `CPostgresTestStores` makes it known before any test.
private final class PostgresTestStores: StoreFactory {
    /// Connections of one store that read: hundreds of stores are open at once.
    private static let readers = 2
    private static let fileName = "postgres-database"

    private let node: NodeName?
    /// The databases of the folders.
    private let databases = Mutex<[String: String]>([:])

    init(as node: NodeName? = nil) { self.node = node }

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
        let name = server.makeDatabaseName()
        let admin = try PostgresConnection(PostgresAddress(server.address()))
        defer { admin.close() }
        for unused in takeUnused() {
            admin.enqueueOnce("DROP DATABASE \(unused) WITH (FORCE)")
            try admin.sync()
        }
        admin.enqueueOnce("CREATE DATABASE \(name) TEMPLATE template0")
        try admin.sync()
        try name.write(to: file, atomically: true, encoding: .utf8)
        databases.withLock { $0[file.path] = name }
        return server.address(database: name)
    }

    /// Takes the databases whose folders are gone, with their tests.
    private func takeUnused() -> [String] {
        databases.withLock { databases in
            let gone = databases.filter { !FileManager.default.fileExists(atPath: $0.key) }
            for path in gone.keys { databases[path] = nil }
            return gone.values.sorted()
        }
    }
}

/// Called before `main`.
@_cdecl("tidebell_register_postgres_test_stores")
func registerPostgresTestStores() {
    TestStores.register(PostgresTestStores(), named: "postgres")
    TestStores.register(PostgresTestStores(as: NodeName("a")), named: "postgres-node")
}
