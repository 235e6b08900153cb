// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer

/// Backups and restoring of a cloud in a data folder; its checks are in the file beside.
@Suite("Backup, restore, check", .hangs, .onSQLite)
final class BackupTests {
    static let container = ContainerKey(
        container: "iCloud.org.example.notes", environment: .development
    )
    static let moment = Instant(rawValue: 1_800_000_000_000)

    let root = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-backup-\(UUID().uuidString)")
    var data: DataFolder { DataFolder(root.appendingPathComponent("data")) }
    var backup: URL { root.appendingPathComponent("backup") }

    init() throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit {
        // Nothing is left to be done where that fails.
        try? FileManager.default.removeItem(at: root)
    }

    /// A cloud with an account, and a database with two records of which one has a file.
    struct Home {
        var store: any OpenedStore
        var assets: AssetFolder
        var zone: StoredZone

        init(_ data: DataFolder, rootKey: RootKey? = nil) async throws {
            store = try data.openStore(for: .serving)
            _ = try await data.openSecret(of: store, randomness: .system)
            assets = try data.openAssets(rootKey: rootKey, logger: Logger(label: "test"))
            if let rootKey {
                try await store.write(.everything) { try $0.adoptRootKey(rootKey.rootKeyID) }
            }
            zone = try await store.write(.everything) { transaction -> StoredZone in
                let database = try transaction.makeDatabase(
                    DatabaseKey(container: BackupTests.container, scope: .public, owner: nil))
                if try transaction.account(named: "anna") == nil {
                    _ = try transaction.createAccount(named: "anna", at: BackupTests.moment)
                }
                return try #require(
                    try transaction.zones([ZoneID.defaultName], in: database.id).first)
            }
        }

        /// Saves a record with a file.
        func save(_ name: String, _ content: String? = nil) async throws {
            let bytes = Array((content ?? "content of \(name)").utf8)
            _ = try await assets.take(upTo: .max) {
                try await $0.write(bytes)
            } keep: {
                try await save(name, $0)
            }
        }

        private func save(_ name: String, _ asset: StoredAsset) async throws -> StoredAsset {
            try await store.write(.everything) { [zone] transaction in
                let kept = try transaction.putAsset(asset, at: BackupTests.moment)
                let database = zone.database
                let position = try BackupTests.advance(database, in: transaction)
                let stamp = RecordStamp(timestamp: 1, userRecordName: "_x", deviceID: "")
                try transaction.putRecords(
                    [
                        StoredRecord(
                            name: name, type: "Note", position: position, created: stamp,
                            modified: stamp,
                            fields: RecordFields(["title": Field(.string(name))])
                        )
                    ],
                    in: zone.key
                )
                try transaction.putAssetUses(
                    [name: [asset.content]], in: zone.key, at: BackupTests.moment)
                try transaction.touchZone(zone.key, position: position, clientChangeToken: nil)
                return kept
            }
        }
    }

    private static func advance(
        _ database: DatabaseID, in transaction: any StoreTransaction
    ) throws -> Position {
        try transaction.advance(database, by: 1, at: moment)
    }

    /// Makes a closed cloud with two records, a secret and a configuration.
    func makeCloud() async throws {
        let home = try await Home(data)
        for name in ["a", "b"] { try await home.save(name) }
        try await home.store.close()
        try Data("{}".utf8).write(to: data.url.appendingPathComponent("tidebell.json"))
        try Data("apple".utf8).write(to: data.url.appendingPathComponent("AuthKey.p8"))
    }

    func check(_ data: DataFolder) throws -> [String] {
        try CloudCheck.run(data, at: Self.moment).problems.map(\.description)
    }

    func files(_ folder: URL) throws -> Set<String> {
        let found = FileManager.default.enumerator(atPath: folder.path)
        return Set(
            (found?.allObjects as? [String] ?? []).filter {
                var isFolder: ObjCBool = false
                let path = folder.appendingPathComponent($0).path
                return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
        )
    }

    func sentence(_ body: () async throws -> Void) async -> String {
        let error = await #expect(throws: OperatorError.self) { try await body() }
        return error?.description ?? ""
    }

    @Test("A backup made while the server writes and takes files holds one moment, whole")
    func whileServing() async throws {
        let home = try await Home(data)
        let saved = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<60 {
                        try await home.save("\(writer)-\(number)")
                        saved.add(writer)
                    }
                }
            }
            for number in 0..<3 {
                await saved.wait(for: 20 * (number + 1))
                let before = saved.counts
                let folder = root.appendingPathComponent("backup\(number)")
                let manifest = try Backup.make(of: data, to: folder, at: Self.moment)
                #expect(manifest.problems == [])
                let restored = DataFolder(root.appendingPathComponent("restored\(number)"))
                _ = try await Restoring.run(
                    folder, to: restored, replacing: false, at: Self.moment)
                #expect(try check(restored) == [])
                let names = try await self.names(in: restored)
                for writer in 0..<4 {
                    let numbers = names.filter { $0.hasPrefix("\(writer)-") }.count
                    #expect(numbers >= before[writer] ?? 0, "acknowledged before the backup")
                    // One moment: of what a writer saved one after the other, none is missing.
                    for number in 0..<numbers { #expect(names.contains("\(writer)-\(number)")) }
                }
                #expect(manifest.records == names.count)
            }
            try await group.waitForAll()
        }
        try await home.store.close()
        #expect(try check(data) == [])
    }

    func names(in data: DataFolder) async throws -> Set<String> {
        let store = try data.openStore(for: .administering)
        let names = try await store.read { reader in
            try SQLiteStore.names(of: reader)
        }
        try await store.close()
        return names
    }

    @Test("A backup has the files, the secrets and the configuration, for its owner alone")
    func contents() async throws {
        try await makeCloud()
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        let present = try files(backup)
        #expect(present == Set(manifest.files.map(\.path)).union(["manifest.json"]))
        let kept = present.filter { $0.hasPrefix("assets/kept/") }
        #expect(kept.count == 2)
        #expect(
            present.subtracting(kept) == [
                "manifest.json", "tidebell.sqlite", "tidebell.json", "AuthKey.p8",
            ]
        )
        func mode(_ path: String) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        #expect(try mode(backup.path) == 0o700)
        for file in present {
            #expect(try mode(backup.appendingPathComponent(file).path) == 0o600, "\(file)")
        }
        #expect(try files(root).filter { $0.contains("unfinished") } == [])
    }

    @Test("--without-keys leaves the secrets out and states that in the manifest")
    func withoutKeys() async throws {
        try await makeCloud()
        var options = Backup.Options()
        options.withoutKeys = true
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment, options)
        #expect(manifest.isWithoutKeys)
        let others = try files(backup).filter { !$0.hasPrefix("assets/kept/") }
        #expect(others == ["manifest.json", "tidebell.sqlite", "tidebell.json"])
    }

    @Test("--without-keys takes no file it does not know, by whatever name a key was copied")
    func unknownFiles() async throws {
        _ = try await makeSealedCloud()
        let copies = ["root-key", "root-key.bak", "old", "key copy.txt"]
        for name in copies {
            try Data(Self.digits.utf8).write(to: data.url.appendingPathComponent(name))
        }
        try Data("{}".utf8).write(to: data.url.appendingPathComponent("tidebell.json"))
        var options = Backup.Options()
        options.withoutKeys = true
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment, options)
        let others = try files(backup).filter { !$0.hasPrefix("assets/kept/") }
        #expect(others == ["manifest.json", "tidebell.sqlite", "tidebell.json"])
        #expect(
            manifest.leftOut == ["key copy.txt", "old", "root-key", "root-key.bak"])
        for file in try files(backup) {
            let bytes = try Data(contentsOf: backup.appendingPathComponent(file))
            #expect(bytes.range(of: Data(Self.digits.utf8)) == nil, "\(file)")
        }
        for name in [".hidden", "half.new", "tidebell.sqlite.copy"] {
            try Data([1]).write(to: data.url.appendingPathComponent(name))
        }
        try FileManager.default.createDirectory(
            at: data.url.appendingPathComponent("folder"), withIntermediateDirectories: false)
        let whole = try Backup.make(
            of: data, to: root.appendingPathComponent("whole"), at: Self.moment)
        #expect(whole.leftOut == [".hidden", "folder", "half.new", "tidebell.sqlite.copy"])
        #expect(Set(whole.files.map(\.path)).isSuperset(of: copies))
    }

    @Test("A backup is not made inside the data folder, by whatever way that is named")
    func insideByLink() async throws {
        try await makeCloud()
        let link = root.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: data.url)
        let elsewhere = root.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: data.assets, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: data.assets, withDestinationURL: elsewhere)
        for location in [
            link.appendingPathComponent("backup"), link.appendingPathComponent("assets/kept/x"),
            elsewhere.appendingPathComponent("kept/x"),
        ] {
            #expect(
                await sentence { _ = try Backup.make(of: data, to: location, at: Self.moment) }
                    == "\(location.path) is in the data folder; name a folder outside of it."
            )
        }
        // A link that leads nowhere is something all the same.
        let dangling = root.appendingPathComponent("dangling")
        try FileManager.default.createSymbolicLink(
            at: dangling, withDestinationURL: root.appendingPathComponent("nowhere"))
        #expect(
            await sentence { _ = try Backup.make(of: data, to: dangling, at: Self.moment) }
                == "\(dangling.path) exists already; name a new folder."
        )
        #expect(try check(data) == [])
    }

    @Test("A backup is not made where something is, nor inside the data folder, nor of nothing")
    func refusedBackups() async throws {
        let none = root.appendingPathComponent("none")
        #expect(
            await sentence {
                _ = try Backup.make(of: DataFolder(none), to: backup, at: Self.moment)
            }
                == "There is no cloud in \(none.path)."
        )
        #expect(!FileManager.default.fileExists(atPath: none.path))
        try await makeCloud()
        #expect(
            await sentence { _ = try Backup.make(of: data, to: root, at: Self.moment) }
                == "\(root.path) exists already; name a new folder."
        )
        let inside = data.url.appendingPathComponent("backup")
        #expect(
            await sentence { _ = try Backup.make(of: data, to: inside, at: Self.moment) }
                == "\(inside.path) is in the data folder; name a folder outside of it."
        )
    }

    @Test("One changed byte, a missing file or a cut one: the backup is refused and named")
    func damagedBackup() async throws {
        try await makeCloud()
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        let target = DataFolder(root.appendingPathComponent("restored"))
        func refused(_ path: String, _ change: (inout Data) -> Void) async throws {
            let url = backup.appendingPathComponent(path)
            let whole = try Data(contentsOf: url)
            var damaged = whole
            change(&damaged)
            try damaged.write(to: url)
            let sentence = await self.sentence {
                _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
            }
            #expect(sentence.contains("is damaged: \(path)"), "\(path)")
            #expect(!FileManager.default.fileExists(atPath: target.url.path))
            try whole.write(to: url)
        }
        for file in manifest.files {
            for position in [0, Int(file.bytes) / 2, Int(file.bytes) - 1] {
                try await refused(file.path) { $0[position] ^= 1 }
            }
            try await refused(file.path) { $0.removeLast() }
        }
        let gone = backup.appendingPathComponent("tidebell.json")
        try FileManager.default.removeItem(at: gone)
        #expect(
            await sentence {
                _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
            } == "The backup \(backup.path) is damaged: tidebell.json is missing."
        )
    }

    @Test("A manifest that names a path outside of the backup is refused")
    func paths() async throws {
        try await makeCloud()
        var manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        for path in ["../data/tidebell.json", "/etc/passwd", "a//b", "."] {
            manifest.files.append(.init(path: path, bytes: 1, sha256: ""))
            let location = backup.appendingPathComponent("manifest.json")
            try JSONEncoder().encode(manifest).write(to: location)
            let sentence = await self.sentence {
                _ = try await Restoring.run(
                    backup, to: DataFolder(root.appendingPathComponent("x")), replacing: false,
                    at: Self.moment)
            }
            #expect(sentence.hasSuffix("is damaged: its manifest.json names '\(path)'."))
            manifest.files.removeLast()
        }
    }

    @Test("Restoring refuses a folder with a cloud, or moves it aside; a running server stays")
    func replacing() async throws {
        try await makeCloud()
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        let home = try await Home(data)
        try await home.save("c")
        let busy = await sentence {
            _ = try await Restoring.run(backup, to: data, replacing: true, at: Self.moment)
        }
        #expect(busy.contains("is in use by another process; stop the other server first."))
        // The folder is looked into under its lock only.
        let locked = await sentence {
            _ = try await Restoring.run(backup, to: data, replacing: false, at: Self.moment)
        }
        #expect(locked == busy)
        try await home.store.close()
        #expect(try await names(in: data) == ["a", "b", "c"])
        let refusal = await self.sentence {
            _ = try await Restoring.run(backup, to: data, replacing: false, at: Self.moment)
        }
        #expect(refusal.contains("is not empty (AuthKey.p8, assets, tidebell.json)"))
        let outcome = try await Restoring.run(
            backup, to: data, replacing: true, at: Self.moment)
        #expect(try await names(in: data) == ["a", "b"])
        #expect(try check(data) == [])
        let aside = DataFolder(try #require(outcome.movedAside))
        #expect(try await names(in: aside) == ["a", "b", "c"])
        #expect(!FileManager.default.fileExists(atPath: data.url.path + "/.restoring"))
    }

    @Test("H6: a restored cloud is another life of the same store, and serves on")
    func newLife() async throws {
        try await makeCloud()
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        let target = DataFolder(root.appendingPathComponent("restored"))
        _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
        let home = try await Home(target)
        #expect(String(home.store.identity, radix: 16) == manifest.identity)
        #expect(home.store.incarnation.rawValue > manifest.incarnation)
        try await home.save("c")
        try await home.store.close()
        #expect(try await names(in: target) == ["a", "b", "c"])
    }

    @Test("A cloud that is damaged is not backed up silently")
    func damagedCloud() async throws {
        try await makeCloud()
        let file = try #require(
            try files(data.url).filter { $0.hasPrefix("assets/kept/") }.sorted().first)
        try Data("something else".utf8).write(to: data.url.appendingPathComponent(file))
        let refusal = await self.sentence {
            _ = try Backup.make(of: data, to: backup, at: Self.moment)
        }
        #expect(refusal.contains("The cloud is damaged") && refusal.contains(file))
        #expect(try files(root).filter { $0.hasPrefix("backup") } == [])
        var options = Backup.Options()
        options.despiteDamage = true
        let manifest = try Backup.make(of: data, to: backup, at: Self.moment, options)
        #expect(manifest.problems.count == 1)
        _ = try await Restoring.run(
            backup, to: DataFolder(root.appendingPathComponent("restored")), replacing: false,
            at: Self.moment)
    }

    @Test(
        "A backup of a cloud whose root key is elsewhere reports that it lacks it; so does restore")
    func rootKeyElsewhere() async throws {
        _ = try await makeSealedCloud()
        #expect(try Backup.make(of: data, to: backup, at: Self.moment).lacksRootKey)
        let target = DataFolder(root.appendingPathComponent("restored"))
        let outcome = try await Restoring.run(
            backup, to: target, replacing: false, at: Self.moment)
        #expect(outcome.lacksRootKey)
        try Data(Self.digits.utf8).write(to: data.url.appendingPathComponent("root-key"))
        let whole = root.appendingPathComponent("whole")
        #expect(try !Backup.make(of: data, to: whole, at: Self.moment).lacksRootKey)
        let again = try await Restoring.run(
            whole, to: DataFolder(root.appendingPathComponent("again")), replacing: false,
            at: Self.moment)
        #expect(!again.lacksRootKey)
    }

    @Test("A folder for the backup that is not there is named as the operator wrote it")
    func noFolderForBackup() async throws {
        try await makeCloud()
        let nowhere = root.appendingPathComponent("x/y")
        #expect(
            await sentence { _ = try Backup.make(of: data, to: nowhere, at: Self.moment) }
                == "The folder \(nowhere.path) cannot be made: No such file or directory."
        )
    }
}

extension SQLiteStore {
    /// The names of all living records.
    fileprivate static func names(of reader: any StoreReader) throws -> Set<String> {
        let reader = try #require(reader as? SQLReader)
        return Set(
            try reader.connection.rows("SELECT name FROM record WHERE deleted = 0") { $0.text(0) })
    }
}

/// Counts what writers have saved; one waits until there is enough.
private final class Counter: Sendable {
    private let stream = AsyncStream<Int>.makeStream()
    private let state = Mutex<[Int: Int]>([:])

    var counts: [Int: Int] { state.withLock { $0 } }

    func add(_ writer: Int) {
        let total = state.withLock { state in
            state[writer, default: 0] += 1
            return state.values.reduce(0, +)
        }
        stream.continuation.yield(total)
    }

    func wait(for total: Int) async {
        for await reached in stream.stream where reached >= total { return }
    }
}
