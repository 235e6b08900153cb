// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellTestStores
import TidebellWire

@testable import TidebellSQLite
@testable import TidebellServer
import Logging

/// The secret of the store of a data folder, and the key that was there instead before.
@Suite("The store's secret in a data folder", .onSQLite)
final class SecretInFolderTests {
    private let root = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-secret-\(UUID().uuidString)")
    private var data: DataFolder { DataFolder(root.appendingPathComponent("data")) }
    private var olderKey: URL { data.assets.appendingPathComponent("key") }

    deinit {
        // A test that failed early may have made none.
        try? FileManager.default.removeItem(at: root)
    }

    /// What a cloud makes with its secret.
    private struct Made: Hashable {
        var deviceID: String
        var link: String
        var receipt: String
    }

    private static let link = AssetLink(
        content: AssetContent(rawValue: String(repeating: "ab", count: 32)),
        expiresAt: TestAPI.start, user: nil
    )

    /// Starts and stops a server; returns what it makes.
    private func serve() async throws -> Made {
        var configuration = ServerConfiguration(dataFolder: data.url)
        configuration.stores = TestStores.factory
        configuration.logLevel = .critical
        let server = try await TidebellServer(configuration)
        let cloud = server.cloud.webServices.cloud
        let seal = AssetSeal(keys: cloud.assetSealKeys, baseURL: "http://h")
        let field = AssetField(
            database: DatabaseKey(container: BackupTests.container, scope: .public, owner: nil),
            zoneName: "z", recordName: nil, fieldName: nil
        )
        let made = Made(
            deviceID: cloud.devices.deviceID(of: "phone", usedBy: "_user"),
            link: seal.url(of: Self.link),
            receipt: seal.seal(AssetReceipt(content: Self.link.content, field: field))
        )
        try await server.cloud.store.close()
        return made
    }

    /// Makes the store of a version 7 that has a database, and the key beside it.
    private func makeVersion7(key: [UInt8]?) throws {
        try FileManager.default.createDirectory(
            at: data.assets, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: data.database.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(Schema.frozenVersion)")
            try Schema.createTables(in: database)
            try database.execute(
                sql: """
                    INSERT INTO store (id, identity) VALUES (1, 4711);
                    INSERT INTO database (container, environment, scope, owner, head, floor,
                        subscription_kinds) VALUES ('c', 'development', 'public', 0, 0, 0, 0);
                    """
            )
        }
        try SchemaSteps(steps: Array(SchemaSteps.released.steps.prefix(1))).apply(to: queue)
        try queue.close()
        if let key { try Data(key).write(to: olderKey) }
    }

    private func problems(_ data: DataFolder) throws -> [String] {
        try CloudCheck.run(data, at: TestAPI.start).problems.map(\.line)
    }

    private static let older = [UInt8](repeating: 7, count: 32)
    private static let missing =
        "Warning: the store has no secret, as after a restore of a backup "
        + "without keys: the next start makes a new one, devices then have other IDs in "
        + "records, and links to files that apps have are no longer valid"

    @Test("is made at the first start and stays, whatever happens to the files beside the store")
    func stays() async throws {
        let first = try await serve()
        #expect(try await serve() == first)
        try FileManager.default.removeItem(at: data.assets)
        #expect(try await serve() == first)
        // The key of older versions has no meaning any more.
        try Data(Self.older).write(to: olderKey)
        #expect(try await serve() == first)
        #expect(try problems(data) == [])
    }

    @Test("Stores have different ones")
    func different() async throws {
        let first = try await serve()
        try FileManager.default.removeItem(at: data.url)
        let second = try await serve()
        #expect(first.deviceID != second.deviceID)
        #expect(first.link != second.link)
        #expect(first.receipt != second.receipt)
    }

    @Test("A store of version 7 makes the device IDs it made, and its key is in the store then")
    func version7() async throws {
        try makeVersion7(key: Self.older)
        let first = try await serve()
        // As version 7 made it.
        #expect(first.deviceID == "aabd842b874509b8d981757a60268a1a")
        #expect(!FileManager.default.fileExists(atPath: olderKey.path))
        #expect(try await serve() == first)
        #expect(try problems(data) == [])
    }

    @Test("A stop between the store and the file of an older key leaves nothing that counts")
    func stoppedMigration() async throws {
        try makeVersion7(key: Self.older)
        let first = try await serve()
        try Data(Self.older).write(to: olderKey)
        #expect(try await serve() == first)
        #expect(!FileManager.default.fileExists(atPath: olderKey.path))
    }

    @Test("A damaged key of an older version stops the start, which reports what follows from it")
    func damagedKey() async throws {
        try makeVersion7(key: [1, 2, 3])
        let error = await #expect(throws: OperatorError.self) { try await self.serve() }
        #expect(error?.description.contains("\(olderKey.path), which the IDs of devices") == true)
        try FileManager.default.removeItem(at: olderKey)
        #expect(try problems(data) == [Self.missing])
        let made = try await serve()
        #expect(try await serve() == made)
        #expect(try problems(data) == [])
    }

    @Test("A command that migrates a store of version 7 leaves its key to the server")
    func commandFirst() async throws {
        try makeVersion7(key: Self.older)
        try await data.openStore(for: .administering).close()
        #expect(try problems(data) == [])
        #expect(FileManager.default.fileExists(atPath: olderKey.path))
        #expect(try await serve().deviceID == "aabd842b874509b8d981757a60268a1a")
    }

    @Test("A backup has the secret, one without keys has not, and what lacks it reports that")
    func backups() async throws {
        try makeVersion7(key: Self.older)
        let first = try await serve()
        for isWithoutKeys in [false, true] {
            let backup = root.appendingPathComponent("backup-\(isWithoutKeys)")
            var options = Backup.Options()
            options.withoutKeys = isWithoutKeys
            let manifest = try Backup.make(of: data, to: backup, at: TestAPI.start, options)
            #expect(manifest.problems == [])
            let bytes = try Data(contentsOf: backup.appendingPathComponent("tidebell.sqlite"))
            #expect((bytes.range(of: Data(Self.older)) == nil) == isWithoutKeys)
            let restored = DataFolder(root.appendingPathComponent("restored-\(isWithoutKeys)"))
            let outcome = try await Restoring.run(
                backup, to: restored, replacing: false, at: TestAPI.start)
            #expect(outcome.lacksSecret == isWithoutKeys)
            #expect(try problems(restored) == (isWithoutKeys ? [Self.missing] : []))
            let store = try restored.openStore(for: .serving)
            let opened = try await restored.openSecret(of: store, randomness: .system)
            #expect(opened.replacesLostOne == isWithoutKeys)
            let deviceID = DeviceSeal(opened.secret).deviceID(of: "phone", usedBy: "_user")
            #expect((deviceID == first.deviceID) == !isWithoutKeys)
            try await store.close()
            #expect(try problems(restored) == [])
        }
    }

    @Test("A whole backup of a store of version 7 takes its key along, and brings it back")
    func olderBackup() async throws {
        try makeVersion7(key: Self.older)
        let backup = root.appendingPathComponent("backup")
        let manifest = try Backup.make(of: data, to: backup, at: TestAPI.start)
        #expect(manifest.files.map(\.path).contains("assets/key"))
        let first = try await serve()
        let outcome = try await Restoring.run(
            backup, to: data, replacing: true, at: TestAPI.start)
        #expect(!outcome.lacksSecret)
        #expect(try await serve().deviceID == first.deviceID)
    }
}
