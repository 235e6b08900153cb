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

    private let known = Mutex<[File]>([])

    /// Remembers the files of the store at `path`, which is open and was written to.
    func remember(ofStoreAt path: String) {
        let files = Self.paths(of: path).compactMap { path in
            FileIdentity(path: path).map { File(path: path, identity: $0) }
        }
        known.withLock { $0 = files }
    }

    /// The first of the files that is not at its path any more; nil while all are.
    private var lost: String? {
        known.withLock(\.self).first { FileIdentity(path: $0.path) != $0.identity }?.path
    }

    /// Whether another file is at the path of one of them: another program may use it.
    var areReplaced: Bool {
        known.withLock(\.self).contains { file in
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

    private static func paths(of path: String) -> [String] {
        ["", "-wal", "-shm"].map { path + $0 }
    }
}
