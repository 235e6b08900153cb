// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
import TidebellSQLite

/// Makes a backup of a cloud, also while a server runs on it.
///
/// ```
/// DEST/manifest.json        what is in it
/// DEST/tidebell.sqlite      the store at one moment
/// DEST/assets/kept/ab/…     the files that it names
/// DEST/root-key             a secret, unless those are left out
/// DEST/tidebell.json        and whatever else the operator put into the data folder
/// ```
///
/// It is made under another name, checked, flushed and then renamed: a folder of the name
/// asked for is a whole backup.
package struct Backup {
    /// How a backup is made.
    package struct Options: Sendable {
        /// Leaves out the keys of zones, and all files but the database, those of records and
        /// what is known to hold no secret.
        package var withoutKeys = false
        /// Makes it also of what is damaged, and states that in it.
        package var despiteDamage = false
        /// Where the root key is, with which the contents of encrypted files are verified;
        /// where it is not at hand, their lengths are.
        package var rootKey = RootKeySource.dataFolder

        /// The options of a whole backup.
        package init() {}
    }

    /// The most problems that an error names.
    private static let namedProblems = 5

    private let data: DataFolder
    private let destination: URL
    private let draft: URL
    private let options: Options
    private var files: [BackupManifest.File] = []
    private var problems: [StoreProblem] = []
    private var folders: Set<String> = []

    private init(of data: DataFolder, to destination: URL, _ options: Options) {
        self.data = data
        self.destination = destination
        draft = URL(fileURLWithPath: destination.path + ".unfinished", isDirectory: true)
        self.options = options
    }

    /// Makes a backup in a folder that does not exist yet. What the operator can put right
    /// fails with ``OperatorError`` and leaves nothing behind.
    package static func make(
        of data: DataFolder, to destination: URL, at now: Instant, _ options: Options = Options()
    ) throws -> BackupManifest {
        try data.checkIsInFolder(for: "backup")
        try data.checkIsNotLost()
        guard data.hasStore else {
            throw OperatorError("There is no cloud in \(data.url.path).")
        }
        var backup = Backup(of: data, to: destination, options)
        try backup.makeDraft()
        do {
            return try backup.fill(at: now)
        } catch {
            // The failure to report is the first one.
            try? FileManager.default.removeItem(at: backup.draft)
            throw backup.refusal(error)
        }
    }

    /// Returns the error for a failure, with the disk it was on and what to do.
    private func refusal(_ error: any Error) -> any Error {
        let noRoom = "The backup was not made: there is no room for it at \(destination.path)."
        switch error {
        case StoreOpenError.noRoom: return OperatorError(noRoom)
        case StoreOpenError.noCopy(_, let reason):
            return OperatorError(
                "The backup was not made: \(destination.path) cannot be written: \(reason).")
        case let error as StoreOpenError where error.isDamage:
            return OperatorError(
                "The backup was not made: the database cannot be read to its end, also not with "
                    + "--despite-damage. Bring the cloud back from an earlier backup (tidebell "
                    + "restore BACKUP --replace\(data.option)); to keep what is left of this "
                    + "one, stop the server and copy the whole folder. \(error)"
            )
        case let error as StoreOpenError: return OperatorError(error.description)
        case let error as DiskError:
            return OperatorError(
                error.isOutOfSpace ? noRoom : "The backup was not made: \(error).")
        default: return error
        }
    }

    private func makeDraft() throws {
        // Links are not followed: a broken link at the destination is in the way, too.
        guard FileStatus(destination.path, followsLinks: false) == nil else {
            throw OperatorError("\(destination.path) exists already; name a new folder.")
        }
        guard !data.holds(destination) else {
            throw OperatorError(
                "\(destination.path) is in the data folder; name a folder outside of it.")
        }
        guard mkdir(draft.path, 0o700) == 0 else {
            throw OperatorError(
                errno == EEXIST
                    ? "\(draft.path) exists: another backup is being made there, or was stopped; "
                        + "remove it, or name another folder."
                    : "The folder \(destination.path) cannot be made: "
                        + "\(String(cString: strerror(errno)))."
            )
        }
    }

    private mutating func fill(at now: Instant) throws -> BackupManifest {
        // Before the store is read: what it names then stays until this goes.
        let lock = try AssetFolderLock.toCopy(in: data.assets)
        let store = draft.appendingPathComponent(DataFolder.databaseName)
        try SQLiteStore.copy(from: data.database.path, to: store.path)
        try SQLiteStore.removeDeleted(
            fromCopyAt: store.path, withKeys: options.withoutKeys, at: now)
        let findings = try StoreCheck.run(at: store.path, olderToo: true)
        problems = findings.problems
        if !options.withoutKeys, let problem = data.secretProblem(in: findings) {
            problems.append(problem)
        }
        try note(DataFolder.databaseName)
        let known = try options.rootKey.knownKey(in: data.url, named: findings.rootKeyID)
        if let problem = known.problem { problems.append(problem) }
        let check = FileCheck(rootKey: known.key)
        try copy(findings.files, check, storeAt: store)
        withExtendedLifetime(lock) {}
        let others = try data.otherFiles(withoutKeys: options.withoutKeys)
        for path in others.taken {
            let taken = try take(path)
            if case .failure(let error) = taken {
                problems.append(StoreProblem("the file \(path) cannot be read: \(error.reason)"))
            }
        }
        let isDamaged = problems.contains { $0.severity == .damage }
        guard !isDamaged || options.despiteDamage else { throw damaged() }
        // That there is a file of this name proves nothing.
        let packed = try RootKeySource.dataFolder.knownKey(in: draft, named: findings.rootKeyID)
        let manifest = BackupManifest(
            madeAt: now.rawValue,
            made: Date(timeIntervalSince1970: Double(now.rawValue) / 1000)
                .formatted(.iso8601),
            identity: String(findings.identity, radix: 16), incarnation: findings.incarnation,
            schemaVersion: findings.schemaVersion, databases: findings.databases,
            zones: findings.zones, records: findings.records, rootKeyID: findings.rootKeyID,
            hasRootKey: packed.key != nil,
            unreadFiles: findings.files.filter { !check.reads($0) }.count,
            isWithoutKeys: options.withoutKeys,
            leftOut: others.leftOut, problems: problems,
            files: files.sorted { $0.path < $1.path }
        )
        try manifest.write(to: draft)
        for folder in folders.sorted(by: >) {
            try DurableFile.flush(draft.appendingPathComponent(folder))
        }
        try DurableFile.flush(draft)
        guard rename(draft.path, destination.path) == 0 else { throw DiskError("rename") }
        try DurableFile.flush(destination.deletingLastPathComponent())
        return manifest
    }

    /// Copies the files of records; what is wrong with them is a problem of the cloud.
    private mutating func copy(
        _ stored: [StoreFindings.StoredFile], _ check: FileCheck, storeAt store: URL
    ) throws {
        var found: [FileProblem] = []
        for file in stored {
            let path = DataFolder.keptFile(file.name)
            let source = data.url.appendingPathComponent(path)
            guard access(source.path, F_OK) == 0 || errno != ENOENT else {
                found.append(FileProblem(file: file, text: "is missing"))
                continue
            }
            switch try take(path) {
            case .success(let digest):
                let copy = draft.appendingPathComponent(path)
                if let text = try check.problem(of: file, with: digest, at: copy) {
                    found.append(FileProblem(file: file, text: text))
                }
            case .failure(let error):
                found.append(FileProblem(file: file, text: "cannot be read: \(error.reason)"))
            }
        }
        problems += FileProblem.atRecords(found, ofStoreAt: store)
    }

    /// Copies a file of the data folder; one that cannot be read is not in the backup.
    private mutating func take(
        _ path: String
    ) throws -> Result<DurableFile.Digest, DiskError> {
        let taken = try DurableFile.copyIfReadable(
            data.url.appendingPathComponent(path), to: try location(of: path))
        if case .success(let digest) = taken {
            files.append(.init(path: path, bytes: digest.bytes, sha256: digest.sha256))
        }
        return taken
    }

    /// Notes a file that is in the draft already.
    private mutating func note(_ path: String) throws {
        guard let digest = try DurableFile.digest(of: draft.appendingPathComponent(path)) else {
            throw DiskError("find \(path)")
        }
        files.append(.init(path: path, bytes: digest.bytes, sha256: digest.sha256))
    }

    /// Returns where a file of the data folder goes, in a folder that exists.
    private mutating func location(of path: String) throws -> URL {
        var folder = ""
        for name in path.split(separator: "/").dropLast() {
            folder += folder.isEmpty ? String(name) : "/\(name)"
            guard folders.insert(folder).inserted else { continue }
            let url = draft.appendingPathComponent(folder)
            guard mkdir(url.path, 0o700) == 0 else { throw DiskError("make \(url.path)") }
        }
        return draft.appendingPathComponent(path)
    }

    private func damaged() -> OperatorError {
        let damages = problems.filter { $0.severity == .damage }
        let named = damages.prefix(Self.namedProblems).map(\.description)
        let more = damages.count > named.count ? "; and \(damages.count - named.count) more" : ""
        return OperatorError(
            "The cloud is damaged, so that a backup of it would be: "
                + named.joined(separator: "; ") + more
                + ". 'tidebell check' lists everything; --despite-damage makes the backup anyway."
        )
    }
}
