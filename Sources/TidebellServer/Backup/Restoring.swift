// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellCore
import TidebellSQLite
package import TidebellScheduling

/// Puts a backup into a data folder, as a new life of its store.
///
/// Everything is verified and made ready in a folder inside the data folder; then names are
/// changed (``FolderExchange``). What fails leaves the folder as it was; what is stopped is
/// taken back by the next restore, and until then no server starts on it.
package struct Restoring {
    /// What was done.
    package struct Outcome: Sendable {
        package var manifest: BackupManifest
        /// Where what was in the folder is now; nil for a folder that was empty.
        package var movedAside: URL?
        /// Whether what is encrypted needs a root key that did not come with the backup.
        package var lacksRootKey: Bool
        /// Whether the store has lost its secret: devices get other IDs in records.
        package var lacksSecret: Bool
    }

    static let asidePrefix = "before-restore-"
    /// The most problems that an error names.
    private static let namedProblems = 5

    private let backup: URL
    private let data: DataFolder
    private var draft: URL { data.url.appendingPathComponent(FolderExchange.draftName) }

    /// Restores a backup; a folder with anything in it is refused unless `replacing`, which
    /// moves that aside. A running server is refused.
    ///
    /// - Parameters:
    ///   - reporting: Called with a sentence on what was done about a restore that was stopped.
    ///   - moved: Called after each step of the exchange, for tests.
    package static func run(
        _ backup: URL, to data: DataFolder, replacing: Bool, at now: Instant,
        reporting report: (String) -> Void = { _ in }, moved: @escaping () throws -> Void = {}
    ) async throws -> Outcome {
        let restoring = Restoring(backup: backup, data: data)
        try data.checkIsInFolder(for: "restore")
        do {
            try data.checkMayBeRead()
            try restoring.takeBack(reporting: report)
            let manifest = try BackupManifest.read(from: backup)
            try restoring.verify(manifest)
            let target = try Target(data, replacing: replacing)
            do {
                let outcome = try await restoring.restore(
                    manifest, target, at: now, reporting: report, moved: moved)
                target.lock.release()
                return outcome
            } catch {
                target.leave()
                throw error
            }
        } catch let error as StoreOpenError {
            throw OperatorError(error.description)
        } catch let error as DiskError {
            throw OperatorError("The backup was not restored: \(error).")
        }
    }

    private func restore(
        _ manifest: BackupManifest, _ target: Target, at now: Instant,
        reporting report: (String) -> Void,
        moved: @escaping () throws -> Void
    ) async throws -> Outcome {
        if access(draft.path, F_OK) == 0 {
            try FileManager.default.removeItem(at: draft)
            report("What a restore that was stopped had left in \(draft.path) was removed.")
        }
        // What fails leaves nothing of itself; the failure to report is the first one.
        var isDone = false
        defer { if !isDone { try? FileManager.default.removeItem(at: draft) } }
        try copy(manifest)
        let store = try await beginNewLife(at: now)
        let aside = "\(Self.asidePrefix)\(now.rawValue)"
        try FolderExchange.run(
            in: data.url, movingAside: target.present, to: aside, moved: moved)
        isDone = true
        let known = try RootKeySource.dataFolder.knownKey(in: data.url, named: store.rootKeyID)
        return Outcome(
            manifest: manifest,
            movedAside: target.present.isEmpty ? nil : data.url.appendingPathComponent(aside),
            lacksRootKey: store.rootKeyID != nil && known.key == nil,
            // The key of an older version goes into the store at the next start.
            lacksSecret: store.lacksSecret && data.size(of: DataFolder.olderKeyName) == nil
        )
    }

    /// Puts back what a restore that was stopped had moved.
    private func takeBack(reporting report: (String) -> Void) throws {
        guard FolderExchange.isUnderWay(in: data.url) else { return }
        let lock = try ServerLock(storeAt: data.database.path)
        defer { lock.release() }
        // Another restore may have ended just now.
        guard FolderExchange.isUnderWay(in: data.url) else { return }
        try FolderExchange.takeBack(in: data.url)
        report(
            "A restore into \(data.url.path) had been interrupted: the previous contents are "
                + "back."
        )
    }

    /// The data folder, held by its lock, and what was in it.
    private struct Target {
        let lock: ServerLock
        private(set) var present: [String] = []
        private let data: DataFolder
        private let isNew: Bool
        private let hadLockFile: Bool

        init(_ data: DataFolder, replacing: Bool) throws {
            self.data = data
            let folder = data.url.path
            isNew = access(folder, F_OK) != 0
            do {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw OperatorError("The folder \(folder) cannot be created.")
            }
            hadLockFile = access(Self.lockFile(of: data), F_OK) == 0
            lock = try ServerLock(storeAt: data.database.path)
            // Looked at under the lock, so that nobody adds to it until it is moved.
            do {
                present = try Self.present(in: data)
                guard present.isEmpty || replacing else {
                    throw OperatorError(
                        "\(folder) is not empty (\(present.prefix(3).joined(separator: ", "))); "
                            + "name another folder, or use --replace to move its contents aside."
                    )
                }
            } catch {
                leave()
                throw error
            }
        }

        /// Leaves the folder as it was found.
        func leave() {
            // The folder itself is locked too, so that nobody can have the file's lock.
            if !hadLockFile { unlink(Self.lockFile(of: data)) }
            lock.release()
            if isNew { rmdir(data.url.path) }
        }

        private static func lockFile(of data: DataFolder) -> String {
            "\(data.database.path)-server"
        }

        /// What is in the data folder, without what restoring leaves and takes there itself.
        private static func present(in data: DataFolder) throws -> [String] {
            let own: Set = [
                "\(DataFolder.databaseName)-server", "lost+found", FolderExchange.draftName,
                FolderExchange.planName, FolderExchange.newPlanName,
            ]
            return try FileManager.default.contentsOfDirectory(atPath: data.url.path).filter {
                !own.contains($0) && !$0.hasPrefix(Restoring.asidePrefix)
            }.sorted()
        }
    }

    /// Fails where a file of the backup is not what it was.
    private func verify(_ manifest: BackupManifest) throws {
        guard manifest.files.contains(where: { $0.path == DataFolder.databaseName }) else {
            throw OperatorError("The backup \(backup.path) is damaged: it has no database.")
        }
        try refuseLinks(to: BackupManifest.fileName)
        for file in manifest.files {
            try refuseLinks(to: file.path)
            let digest: DurableFile.Digest?
            do {
                digest = try DurableFile.digest(of: backup.appendingPathComponent(file.path))
            } catch {
                throw OperatorError("The backup \(backup.path) cannot be read: \(error).")
            }
            guard let digest else {
                throw OperatorError(
                    "The backup \(backup.path) is damaged: \(file.path.printable) is missing.")
            }
            guard digest == DurableFile.Digest(bytes: file.bytes, sha256: file.sha256) else {
                throw OperatorError(
                    "The backup \(backup.path) is damaged: \(file.path.printable) has changed since it was written. "
                        + "Nothing was restored; take another backup."
                )
            }
        }
    }

    /// Fails where a part of a path below the backup is a link: a backup is made without any, and
    /// whoever changed it would choose which file of this machine becomes a part of the cloud.
    private func refuseLinks(to path: String) throws {
        var part = ""
        for name in path.split(separator: "/") {
            part += part.isEmpty ? String(name) : "/\(name)"
            let path = backup.appendingPathComponent(part).path
            guard FileStatus(path, followsLinks: false)?.kind == .symbolicLink else { continue }
            throw OperatorError(
                "The backup \(backup.path) is not as a Tidebell made it: \(part) is a link. "
                    + "Nothing was restored; take another backup."
            )
        }
    }

    private func copy(_ manifest: BackupManifest) throws {
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

    /// What a restored store has of its keys.
    private struct StoreKeys {
        /// What distinguishes its root key from others; nil where it has none.
        var rootKeyID: String?
        /// Whether it was in use and has no secret.
        var lacksSecret: Bool
    }

    /// Makes the store forget what it may have given out since the backup; returns what it has
    /// of its keys.
    private func beginNewLife(at now: Instant) async throws -> StoreKeys {
        let path = draft.appendingPathComponent(DataFolder.databaseName).path
        // Somebody may have changed it together with the manifest.
        try admit(path)
        let store = try SQLiteStore.open(
            at: path, for: .serving, time: Time(now: { now }, clock: Time.system.clock),
            randomness: .system
        )
        let keys: StoreKeys
        do {
            try await store.beginNewIncarnation(at: now)
            keys = try await store.read {
                StoreKeys(
                    rootKeyID: try $0.rootKeyID(),
                    lacksSecret: try $0.storeSecret() == nil && !$0.containers(limit: 1).isEmpty
                )
            }
        } catch {
            try await store.close()
            throw error
        }
        try await store.close()
        try admit(path)
        // The lock of the folder itself stays where it is.
        unlink("\(path)-server")
        return keys
    }

    /// Fails where the store at `path` must not be opened.
    private func admit(_ path: String) throws {
        let problems = try StoreCheck.refusals(ofStoreAt: path)
        guard !problems.isEmpty else { return }
        let named = problems.prefix(Self.namedProblems).map(\.description)
        let more = problems.count > named.count ? "; and \(problems.count - named.count) more" : ""
        throw OperatorError(
            "The database of the backup \(backup.path) is not as a Tidebell made it: "
                + named.joined(separator: "; ") + more
                + ". Nothing was restored; take another backup."
        )
    }
}
