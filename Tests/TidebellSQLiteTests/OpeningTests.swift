// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Testing
import TidebellCore
import TidebellScheduling
import TidebellWire

@testable import TidebellSQLite

@Suite("Opening a store file")
final class OpeningTests {
    let path = SQLiteEngine.newPath()

    deinit {
        // What a test could not make need not be removed.
        try? FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// Makes a closed store and lets `change` at its file.
    private func makeStore(_ change: (Database) throws -> Void = { _ in }) async throws {
        try await SQLiteStore.open(at: path).close()
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction(change)
        try queue.close()
    }

    private func permissions(_ path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("Commits wait for the disk: the writer has WAL and synchronous FULL")
    func commitsAreDurable() async throws {
        let store = try SQLiteStore.open(at: path)
        let settings = try await store.pool.writeWithoutTransaction { database in
            try ["journal_mode", "synchronous"].map {
                try String.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(settings == ["wal", "2"])
        try await store.close()
    }

    @Test("The folder and the files are the owner's alone")
    func filesArePrivate() async throws {
        let store = try SQLiteStore.open(at: path)
        _ = try await store.write(.everything) { try $0.makeDatabase(.publicNotes) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        #expect(try permissions(folder) == 0o700)
        for file in [path, "\(path)-wal", "\(path)-shm", "\(path)-server"] {
            #expect(try permissions(file) == 0o600, "\(file)")
        }
        try await store.close()
    }

    @Test("A store keeps the identity it was made with")
    func identityStays() async throws {
        let chance = Randomness(makeUUID: Randomness.system.makeUUID) { count in
            Array(repeating: 0xFE, count: count)
        }
        let first = try SQLiteStore.open(at: path, randomness: chance)
        let identity = first.identity
        #expect(identity == 0xFEFE_FEFE_FEFE_FEFE)
        try await first.close()
        let second = try SQLiteStore.open(at: path)
        #expect(second.identity == identity)
        try await second.close()
    }

    @Test("A file that is no database is refused and left as it is")
    func otherFileIsRefused() async throws {
        try await makeStore()
        let text = Data(String(repeating: "Dear diary. ", count: 1000).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreOpenError.notADatabase(path: path)) {
            try SQLiteStore.open(at: path)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test("Another program's database is refused and left as it is")
    func otherDatabaseIsRefused() async throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "CREATE TABLE song (title TEXT)") }
        try queue.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: StoreOpenError.notADatabase(path: path)) {
            try SQLiteStore.open(at: path)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("A store of a newer version is refused with both versions")
    func newerSchemaIsRefused() async throws {
        let newer = Schema.version + 1
        try await makeStore { try $0.execute(sql: "PRAGMA user_version = \(newer)") }
        let error = #expect(throws: StoreOpenError.self) { try SQLiteStore.open(at: path) }
        #expect(error == .newerSchema(path: path, version: newer, supported: Schema.version))
        #expect(
            error?.description
                == "'\(path)' has schema version \(newer), but this Tidebell knows only up to \(Schema.version); "
                + "run the newer Tidebell that wrote it."
        )
    }

    @Test("A store whose tables are lost is damaged")
    func missingTableIsDamage() async throws {
        try await makeStore { try $0.execute(sql: "DROP TABLE store") }
        let error = #expect(throws: StoreOpenError.self) { try SQLiteStore.open(at: path) }
        #expect(error == .damaged(path: path, reason: "no such table: store"))
    }

    @Test("A store without its identity is damaged")
    func missingIdentityIsDamage() async throws {
        try await makeStore { try $0.execute(sql: "DELETE FROM store") }
        let error = #expect(throws: StoreOpenError.self) { try SQLiteStore.open(at: path) }
        #expect(error == .damaged(path: path, reason: "the store's identity is missing"))
    }

    @Test("A store with an overwritten first page is damaged")
    func overwrittenPageIsDamage() async throws {
        try await makeStore()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 100)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 3000))
        try file.close()
        let error = #expect(throws: StoreOpenError.self) { try SQLiteStore.open(at: path) }
        #expect(error == .damaged(path: path, reason: "database disk image is malformed"))
    }

    @Test("A folder that cannot be made is named")
    func unwritableFolder() async throws {
        try await makeStore()
        let below = "\(path)/folder/tidebell.sqlite"
        #expect(
            throws: StoreOpenError.unwritable(
                path: "\(path)/folder", reason: "the folder cannot be created")
        ) { try SQLiteStore.open(at: below) }
    }

    @Test("A folder where the file should be is refused")
    func folderInPlaceOfFile() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true
        )
        #expect(
            throws: StoreOpenError.unwritable(path: path, reason: "unable to open database file")
        ) { try SQLiteStore.open(at: path) }
    }

    @Test("A second server is refused until the first has closed")
    func secondServerIsRefused() async throws {
        let first = try SQLiteStore.open(at: path)
        #expect(throws: StoreOpenError.inUse(path: path)) { try SQLiteStore.open(at: path) }
        try await first.close()
        try await SQLiteStore.open(at: path).close()
    }

    @Test(
        "A second server is refused though the lock's file was removed or replaced",
        arguments: ["removed", "replaced", "linked folder", "linked database"])
    func secondServerWithoutLockFile(_ way: String) async throws {
        let first = try SQLiteStore.open(at: path)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let other = folder.deletingLastPathComponent()
            .appendingPathComponent("\(folder.lastPathComponent)-other")
        defer { try? FileManager.default.removeItem(at: other) }
        var second = path
        switch way {
        case "removed": try FileManager.default.removeItem(atPath: "\(path)-server")
        case "replaced":
            try FileManager.default.moveItem(atPath: "\(path)-server", toPath: "\(path)-old")
            try Data().write(to: URL(fileURLWithPath: "\(path)-server"))
        case "linked folder":
            try FileManager.default.createSymbolicLink(at: other, withDestinationURL: folder)
            second = other.appendingPathComponent("tidebell.sqlite").path
        default:
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            second = other.appendingPathComponent("tidebell.sqlite").path
            try FileManager.default.createSymbolicLink(
                atPath: second, withDestinationPath: path)
        }
        #expect(throws: StoreOpenError.inUse(path: second)) { try SQLiteStore.open(at: second) }
        // Commands go on.
        let command = try SQLiteStore.open(at: path, for: .administering)
        _ = try await command.write(.everything) { try $0.createAccount(named: "anna", at: .noon) }
        try await command.close()
        try await first.close()
        try await SQLiteStore.open(at: path).close()
    }

    @Test(
        "A database that has another name on the disk is not served: two servers could meet on it")
    func hardLink() async throws {
        try await makeStore()
        let other = "\(path)-other"
        try FileManager.default.linkItem(atPath: path, toPath: other)
        #expect(throws: StoreOpenError.linked(path: path)) { try SQLiteStore.open(at: path) }
        try FileManager.default.removeItem(atPath: other)
        try await SQLiteStore.open(at: path).close()
    }

    @Test("A closed store is free even while a child process holds copies of its descriptors")
    func childProcess() async throws {
        let store = try SQLiteStore.open(at: path)
        // What a fork gives the child until it runs another program.
        let folder = "/proc/self/fd"
        let numbers = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(folder)/\($0)"
            )
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            return target == "\(path)-server" || target == folder
        }
        let copies = numbers.compactMap(Int32.init).map { dup($0) }
        defer { for copy in copies { _ = Foundation.close(copy) } }
        // The lock, the note in the same file, and the folder.
        #expect(copies.count == 3)
        try await store.close()
        try await SQLiteStore.open(at: path).close()
    }

    @Test("A store closed by a cancelled task is closed all the same")
    func closingIsNotCancelled() async throws {
        let store = try SQLiteStore.open(at: path)
        let closing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.close()
        }
        try await closing.value
        try await SQLiteStore.open(at: path).close()
    }

    @Test("An account made while a server runs is known to it at once")
    func administeringBesideAServer() async throws {
        let server = try SQLiteStore.open(at: path)
        let command = try SQLiteStore.open(at: path, for: .administering)
        #expect(command.identity == server.identity)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                for store in [server, command] {
                    group.addTask {
                        let name = "\(number)\(store === server)"
                        _ = try await store.write(.everything) {
                            try $0.createAccount(named: name, at: .noon)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await command.close()
        #expect(try await server.read { try $0.accountNames() }.count == 40)
        try await server.close()
    }
}

extension Instant {
    static let noon = Instant(rawValue: 1_800_000_000_000)
}

extension DatabaseKey {
    static let publicNotes = DatabaseKey(
        container: ContainerKey(
            container: "iCloud.org.example.notes", environment: .development
        ),
        scope: .public, owner: nil
    )
}
