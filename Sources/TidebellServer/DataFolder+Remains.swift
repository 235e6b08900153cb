// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellSQLite

/// Distinguishes a new folder from one that lost its database: the second must not begin a cloud
/// anew, beside files and devices of the old one.
extension DataFolder {
    /// What belongs to a cloud, and is there, though the database is missing or empty.
    private var remains: [String] {
        var found = ["\(Self.databaseName)-wal", Self.olderKeyName].filter {
            (size(of: $0) ?? 0) > 0
        }
        let kept = url.appendingPathComponent("\(Self.assetsName)/kept")
        // A folder that is not there holds nothing.
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: kept.path)) ?? []
        if !folders.isEmpty { found.append("\(Self.assetsName)/kept") }
        // NB: a first start that was killed leaves an empty database beside this one, without
        // the note that one makes which has its tables.
        let lock = "\(Self.databaseName)-server"
        let isNoted = (size(of: lock) ?? 0) > 0
        if isNoted || size(of: Self.databaseName) == nil && size(of: lock) != nil {
            found.append(lock)
        }
        return found
    }

    /// Whether there is a database with something in it; one that is elsewhere begins when it is opened.
    package var hasStore: Bool {
        !stores.isInDataFolder || (size(of: Self.databaseName) ?? 0) > 0
    }

    /// Fails where the store is no file of the folder, which `command` works on.
    func checkIsInFolder(for command: String) throws {
        guard !stores.isInDataFolder else { return try checkFilesAreInFolder(for: command) }
        let files =
            notedBucket.map {
                "copy the folder \(url.path), which has the root key, and the bucket \($0), which has the files of "
                    + "records."
            } ?? "copy the folder \(url.path), which has the root key and the files of records."
        throw OperatorError(
            "tidebell \(command) works on the files of a data folder, and the store of this cloud is in "
                + "PostgreSQL. Use the tools of PostgreSQL for it (pg_basebackup, pg_dump, pg_restore, "
                + "amcheck), and \(files)"
        )
    }

    /// Fails where the database is missing or empty and other files of a cloud are not, and
    /// where a restore was stopped in the middle.
    package func checkIsNotLost() throws {
        try checkMayBeRead()
        guard !FolderExchange.isUnderWay(in: url) else {
            throw OperatorError(
                "A restore into the folder \(url.path) was interrupted, or is running, so the "
                    + "folder has parts of two clouds. Nothing is lost: if the restore was "
                    + "interrupted, run it again (tidebell restore BACKUP --replace\(option)), "
                    + "which first puts back the previous contents."
            )
        }
        guard !hasStore else { return }
        guard size(of: SQLiteTables.migratedName) == nil else {
            throw OperatorError(
                "The records of the cloud in \(url.path) were migrated to PostgreSQL (tidebell migrate): name the "
                    + "database with --store. The file from before is \(SQLiteTables.migratedName); to go "
                    + "back to that moment, rename it to \(Self.databaseName)."
            )
        }
        let remains = remains
        guard !remains.isEmpty else { return }
        let state = size(of: Self.databaseName) == nil ? "missing" : "empty"
        throw OperatorError(
            "The folder \(url.path) has files of a cloud (\(remains.joined(separator: ", "))), "
                + "but its database \(Self.databaseName) is \(state). Restore it from a backup "
                + "(tidebell restore BACKUP --replace\(option)), or move the folder away to begin a new "
                + "cloud."
        )
    }

    /// Fails where the folder is there and this user may not look into it.
    func checkMayBeRead() throws {
        let status = FileStatus(url.path)
        if let status {
            guard status.kind == .folder, access(url.path, R_OK | X_OK) != 0 else { return }
        }
        guard errno == EACCES else { return }
        throw OperatorError(
            Self.refusal(
                of: url.path, owner: (status?.owner).map(Self.name),
                to: Self.name(of: geteuid()))
        )
    }

    /// The error of a user who may not look into a folder.
    static func refusal(of path: String, owner: String?, to user: String) -> String {
        guard let owner else {
            return "The user '\(user)' cannot read the folder that contains \(path); run the "
                + "command as the user who owns the cloud."
        }
        return owner == user
            ? "The folder \(path) cannot be read by its owner '\(user)'; to change that: "
                + "chmod 700 \(path.asShellWord)"
            : "The folder \(path) belongs to the user '\(owner)', and '\(user)' cannot read "
                + "it; run the command as that user: sudo -u \(owner.asShellWord) tidebell …"
    }

    private static func name(of user: uid_t) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "\(user)" }
        return String(cString: name)
    }

    /// The option that names this folder to another command.
    package var option: String { " --data \(url.path.asShellWord)" }

    /// The bytes of a file of the folder; nil if there is none.
    func size(of name: String) -> Int64? {
        FileStatus(url.appendingPathComponent(name).path)?.size
    }
}
