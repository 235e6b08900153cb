// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// The files of an open store: the database, its write-ahead log and the log's index.
///
/// As long as a connection is open SQLite replaces none of them. Where somebody else removes
/// one, SQLite goes on with a file that nobody can open any more: what is written then is lost
/// with the process, and other programs see another store.
struct StoreFiles: Sendable {
    private struct File {
        var path: String
        var identity: FileIdentity
    }

    private let files: [File]

    /// Looks at the files of the store at `path`, which is open and was read.
    init(of path: String) {
        files = Self.paths(of: path).compactMap { path in
            FileIdentity(path: path).map { File(path: path, identity: $0) }
        }
    }

    /// The first of the files that is not at its path any more; nil while all are.
    var lost: String? {
        files.first { FileIdentity(path: $0.path) != $0.identity }?.path
    }

    /// Whether another file is at the path of one of them: another program may use it.
    var areReplaced: Bool {
        files.contains { file in
            FileIdentity(path: file.path).map { $0 != file.identity } ?? false
        }
    }

    /// Fails where one of the files is not at its path any more.
    func check() throws {
        guard let lost else { return }
        throw StoreUnavailable(
            .isGone,
            detail: "'\(lost)' was removed or replaced while the server runs; bring it back, or "
                + "stop the server, which saves what it can, and start it again"
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
