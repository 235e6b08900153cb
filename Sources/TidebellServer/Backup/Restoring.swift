// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellSQLite

/// Puts a backup into a data folder, as a new life of its store.
///
/// Everything is verified and made ready in a folder inside the data folder, which may be a
/// mount of its own; then names are changed, the database last: what is stopped in between
/// has files and no database, and no server starts on it.
package struct Restoring {
    /// What was done.
    package struct Outcome: Sendable {
        package var manifest: BackupManifest
        /// Where what was in the folder is now; nil for a folder that was empty.
        package var movedAside: URL?
        /// Whether what is encrypted needs a root key that did not come with the backup.
        package var lacksRootKey: Bool
    }

    private static let draftName = ".restoring"
    private static let asidePrefix = "before-restore-"

    private let backup: URL
    private let data: DataFolder
    private var draft: URL { data.url.appendingPathComponent(Self.draftName) }

    /// Restores a backup; a folder with anything in it is refused unless `replacing`, which
    /// moves that aside. A running server is refused.
    package static func run(
        _ backup: URL, to data: DataFolder, replacing: Bool, at now: Instant
    ) async throws -> Outcome {
        let restoring = Restoring(backup: backup, data: data)
        let manifest = try BackupManifest.read(from: backup)
        try restoring.verify(manifest)
        let folder = data.url.path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw OperatorError("The folder \(folder) cannot be created.")
        }
        try data.checkMayBeRead()
        let present = try restoring.present()
        guard present.isEmpty || replacing else {
            throw OperatorError(
                "\(folder) is not empty (\(present.prefix(3).joined(separator: ", "))); name "
                    + "another folder, or move what is there aside with --replace."
            )
        }
        do {
            let lock = try ServerLock(storeAt: data.database.path)
            defer { lock.release() }
            try restoring.copy(manifest)
            let rootKeyID = try await restoring.beginNewLife(at: now)
            let aside = try restoring.moveAside(present, at: now)
            try restoring.moveIn()
            let known = try RootKeySource.dataFolder.knownKey(in: data.url, named: rootKeyID)
            return Outcome(
                manifest: manifest, movedAside: aside,
                lacksRootKey: rootKeyID != nil && known.key == nil
            )
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        } catch let error as DiskError {
            throw OperatorError("The backup was not restored: \(error).")
        }
    }

    /// Fails where a file of the backup is not what it was.
    private func verify(_ manifest: BackupManifest) throws {
        guard manifest.files.contains(where: { $0.path == DataFolder.databaseName }) else {
            throw OperatorError("The backup \(backup.path) is damaged: it has no database.")
        }
        for file in manifest.files {
            let digest: DurableFile.Digest?
            do {
                digest = try DurableFile.digest(of: backup.appendingPathComponent(file.path))
            } catch {
                throw OperatorError("The backup \(backup.path) cannot be read: \(error).")
            }
            guard let digest else {
                throw OperatorError(
                    "The backup \(backup.path) is damaged: \(file.path) is missing.")
            }
            guard digest == DurableFile.Digest(bytes: file.bytes, sha256: file.sha256) else {
                throw OperatorError(
                    "The backup \(backup.path) is damaged: \(file.path) is not what was written. "
                        + "Nothing was restored; take another backup."
                )
            }
        }
    }

    /// What is in the data folder, without what this leaves and takes there itself.
    private func present() throws -> [String] {
        let lock = "\(DataFolder.databaseName)-server"
        return try FileManager.default.contentsOfDirectory(atPath: data.url.path).filter {
            $0 != lock && $0 != "lost+found" && $0 != Self.draftName
                && !$0.hasPrefix(Self.asidePrefix)
        }.sorted()
    }

    private func copy(_ manifest: BackupManifest) throws {
        // What a stopped one left.
        try? FileManager.default.removeItem(at: draft)
        var folders: Set<String> = [draft.path]
        guard mkdir(draft.path, 0o700) == 0 else { throw DiskError("make \(draft.path)") }
        for file in manifest.files {
            let target = draft.appendingPathComponent(file.path)
            var folder = target.deletingLastPathComponent()
            if !folders.contains(folder.path) {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            }
            while folders.insert(folder.path).inserted { folder.deleteLastPathComponent() }
            let digest = try DurableFile.copy(backup.appendingPathComponent(file.path), to: target)
            guard digest.sha256 == file.sha256 else {
                throw OperatorError("\(file.path) changed while it was restored; try again.")
            }
        }
        for folder in folders.sorted(by: >) {
            try DurableFile.flush(URL(fileURLWithPath: folder, isDirectory: true))
        }
    }

    /// Makes the store forget what it may have given out since the backup; returns what tells
    /// its root key from others, nil where it has none.
    private func beginNewLife(at now: Instant) async throws -> String? {
        let path = draft.appendingPathComponent(DataFolder.databaseName).path
        let store = try SQLiteStore.open(at: path, for: .serving)
        let rootKeyID: String?
        do {
            try await store.beginNewIncarnation(at: now)
            rootKeyID = try await store.read { try $0.rootKeyID() }
        } catch {
            try await store.close()
            throw error
        }
        try await store.close()
        // The lock of the folder itself stays where it is.
        unlink("\(path)-server")
        return rootKeyID
    }

    private func moveAside(_ names: [String], at now: Instant) throws -> URL? {
        guard !names.isEmpty else { return nil }
        let aside = data.url.appendingPathComponent("\(Self.asidePrefix)\(now.rawValue)")
        guard mkdir(aside.path, 0o700) == 0 else { throw DiskError("make \(aside.path)") }
        for name in names {
            try move(data.url.appendingPathComponent(name), to: aside.appendingPathComponent(name))
        }
        try DurableFile.flush(aside)
        try DurableFile.flush(data.url)
        return aside
    }

    private func moveIn() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: draft.path)
        let last = DataFolder.databaseName
        for name in names.filter({ $0 != last }) + [last] {
            if name == last { try DurableFile.flush(data.url) }
            try move(draft.appendingPathComponent(name), to: data.url.appendingPathComponent(name))
        }
        try DurableFile.flush(data.url)
        guard rmdir(draft.path) == 0 else { throw DiskError("remove \(draft.path)") }
    }

    private func move(_ source: URL, to target: URL) throws {
        guard rename(source.path, target.path) == 0 else { throw DiskError("move \(source.path)") }
    }
}
