// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// The files of an open store: the database, its write-ahead log and the log's index.
///
/// As long as a connection is open SQLite replaces none of them. Where somebody else removes
/// one, SQLite goes on with a file that nobody can open any more: what is written then is lost
/// with the process, and other programs see another store.
final class StoreFiles: Sendable {
    private struct File {
        var path: String
        var identity: FileIdentity
    }

    private struct Known {
        var files: [File] = []
        var folder = "."
        var settledAfter = FolderState.settledAfter
        /// The folder's state when all files were last seen at their paths. While it is the same they
        /// need not be looked at: one call of the system instead of three, four times in a save.
        var seenIn: FolderState?
    }

    private let known = Mutex(Known())

    /// Remembers the files of the store at `path`, which is open and was written to.
    ///
    /// - Parameter settledAfter: Seconds without a change after which the folder's time is relied on.
    func remember(ofStoreAt path: String, settledAfter: Int = FolderState.settledAfter) {
        let files = Self.paths(of: path).compactMap { path in
            FileIdentity(path: path).map { File(path: path, identity: $0) }
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        known.withLock {
            $0 = Known(files: files, folder: folder, settledAfter: settledAfter)
        }
    }

    /// Whether the folder alone is looked at, until it changes.
    var isFolderEnough: Bool { known.withLock { $0.seenIn != nil } }

    /// The first of the files that is not at its path any more; nil while all are.
    private var lost: String? {
        known.withLock { known -> String? in
            guard !known.files.isEmpty else { return nil }
            // Before the files: what happens to them meanwhile changes it again.
            let state = FolderState(path: known.folder, settledAfter: known.settledAfter)
            if let state, state == known.seenIn { return nil }
            let lost = known.files.first { FileIdentity(path: $0.path) != $0.identity }?.path
            // One whose log is elsewhere stands in two folders.
            let areAllHere = lost == nil && known.files.count == Self.suffixes.count
            known.seenIn = areAllHere ? state : nil
            return lost
        }
    }

    /// Whether another file is at the path of one of them: another program may use it.
    var areReplaced: Bool {
        known.withLock(\.files).contains { file in
            FileIdentity(path: file.path).map { $0 != file.identity } ?? false
        }
    }

    /// Fails where one of the files is not at its path any more; not before they are known.
    func check() throws {
        guard let lost else { return }
        throw StoreUnavailable(
            .isGone,
            detail: areReplaced
                ? "'\(lost)' was replaced while the server runs: bring it back; otherwise what the "
                    + "server wrote since its last checkpoint ends with it"
                : "'\(lost)' was removed while the server runs; bring it back, or stop the "
                    + "server, which saves what it can, and start it again"
        )
    }

    /// The first of the files of a store in use that is missing beside its database.
    static func missing(besideDatabaseAt path: String) -> String? {
        paths(of: path).dropFirst().first { FileIdentity(path: $0) == nil }
    }

    private static let suffixes = ["", "-wal", "-shm"]

    private static func paths(of path: String) -> [String] { suffixes.map { path + $0 } }
}
