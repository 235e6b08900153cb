// SPDX-License-Identifier: Apache-2.0

/// Why a store could not be opened, in one sentence for the operator.
package enum StoreOpenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is something else.
    case notADatabase(path: String)
    /// The file was written by a newer Tidebell.
    case newerSchema(path: String, version: Int, supported: Int)
    /// The file has another version than this code can check.
    case otherSchema(path: String, version: Int, supported: Int)
    /// The file or its folder cannot be created or written.
    case unwritable(path: String, reason: String)
    /// The database that has the store cannot be reached or used.
    case unreachable(reason: String)
    /// A copy of a store into it was begun and did not end.
    case unfinishedCopy(path: String)
    /// The cloud was copied to another store, and is served there.
    case migrated(path: String)
    /// The file is a store, but parts of it are lost.
    case damaged(path: String, reason: String)
    /// There is no room for a copy of the store.
    case noRoom(path: String)
    /// A copy of the store cannot be written.
    case noCopy(path: String, reason: String)
    /// Another server runs on the file, or something keeps it locked; the process is
    /// nil where it is not known.
    case inUse(path: String, process: Int32? = nil)
    /// Other servers run on the database, and this one cannot share it with them.
    case servedElsewhere(path: String)
    /// Another node of the cloud has the name.
    case nodeInUse(name: String)
    /// A file that the server of the store writes to was removed while it runs.
    case lost(path: String, process: Int32)
    /// The file has more than one name, under each of which a server could run on it.
    case linked(path: String)

    /// Whether what is in the file cannot be read.
    package var isDamage: Bool {
        switch self {
        case .damaged, .notADatabase: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .notADatabase(let path):
            "'\(path)' is not a Tidebell store; choose another path, or move the file away."
        case .newerSchema(let path, let version, let supported):
            "'\(path)' has schema version \(version), but this Tidebell knows only up to "
                + "\(supported); run the newer Tidebell that wrote it."
        case .otherSchema(let path, let version, let supported):
            "'\(path)' has schema version \(version) and not \(supported); start the server "
                + "once, which migrates it, or use the Tidebell that wrote it."
        case .unwritable(let path, let reason):
            "'\(path)' cannot be written: \(reason)."
        case .unreachable(let reason):
            "the store cannot be opened: \(reason)."
        case .unfinishedCopy(let path):
            "a migration into '\(path)' did not end; run the same tidebell migrate again, which goes "
                + "on where it was."
        case .migrated(let path):
            "the cloud in '\(path)' was migrated to another store (tidebell migrate), and is served from "
                + "there."
        case .damaged(let path, let reason):
            "'\(path)' is damaged (\(reason)); restore it from a backup."
        case .noRoom(let path):
            "there is no room for '\(path)'."
        case .noCopy(let path, let reason):
            "'\(path)' cannot be written: \(reason)."
        case .inUse(let path, nil):
            "'\(path)' is in use by another process; stop the other server first."
        case .inUse(let path, let process?):
            "'\(path)' is in use by another process (\(process)); stop the other server "
                + "first."
        case .servedElsewhere(let path):
            "another server is running on '\(path)'. Stop it first; or, for servers that share the "
                + "database, give each of them a name (tidebell serve --node-name NAME)."
        case .nodeInUse(let name):
            "another node named '\(name)' is running on this database; give each node a name of its own."
        case .lost(let path, let process):
            "'\(path)' was removed while the server, process \(process), runs: it writes where "
                + "no other process can read. Stop the server, which saves what it can, and start it "
                + "again."
        case .linked(let path):
            "'\(path)' has another name on this disk, a hard link, and a server that runs on each "
                + "would damage it; remove the other name, which 'find FOLDER -samefile \(path)' "
                + "finds. To copy a cloud, use tidebell backup."
        }
    }
}
