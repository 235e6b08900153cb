// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
package import TidebellCore

/// The right to be the one server of a store, held as long as the process lives.
///
/// It is two locks. That on the folder of the database cannot be lost by removing or
/// replacing a file, nor by coming through a symbolic link. That on a file beside the
/// database is what earlier versions hold. Neither is on the database itself: SQLite's
/// locks would be lost if the process opened and closed that file beside it (POSIX locks
/// belong to the process, not to the file descriptor).
package final class ServerLock: Sendable {
    private let descriptors: Mutex<[Int32]>

    /// Takes the lock of the store at `path`, or fails if another holds it.
    package init(storeAt path: String) throws(StoreOpenError) {
        let folder = try Self.locked(
            Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, ofStoreAt: path)
        do {
            let file = try Self.locked(
                "\(path)-server", O_RDWR | O_CREAT | O_CLOEXEC, ofStoreAt: path)
            descriptors = Mutex([folder, file])
        } catch {
            Self.release(folder)
            throw error
        }
    }

    deinit {
        release()
    }

    /// Gives the lock back; the file stays.
    package func release() {
        descriptors.withLock { descriptors in
            for open in descriptors { Self.release(open) }
            descriptors = []
        }
    }

    private static func release(_ descriptor: Int32) {
        // Closing would not be enough: a child process that is about to run
        // another program still has its copy of the descriptor.
        _ = flock(descriptor, LOCK_UN)
        _ = Foundation.close(descriptor)
    }

    private static func locked(
        _ lockPath: String, _ flags: Int32, ofStoreAt path: String
    ) throws(StoreOpenError) -> Int32 {
        let isFolder = flags & O_DIRECTORY != 0
        let descriptor = Foundation.open(lockPath, flags, 0o600)
        guard descriptor >= 0 else {
            throw .unwritable(path: lockPath, reason: String(cString: strerror(errno)))
        }
        // NB: a file system of the network may lock no folders; the file is locked then.
        let failure = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        if failure == 0 || failure != EWOULDBLOCK && isFolder { return descriptor }
        let holder = failure == EWOULDBLOCK ? LockHolder.process(of: descriptor) : nil
        _ = Foundation.close(descriptor)
        guard failure == EWOULDBLOCK else { throw Self.cannotLock(lockPath, failure) }
        throw .inUse(path: path, process: holder)
    }

    /// Why a file cannot be locked that nobody else has locked.
    static func cannotLock(_ lockPath: String, _ failure: Int32) -> StoreOpenError {
        .unwritable(
            path: lockPath,
            reason: "it cannot be locked (\(String(cString: strerror(failure)))), and without "
                + "locks a second server could start on it"
        )
    }

    /// The folder that the database is in, which may be another than that of the path.
    private static func folder(of path: String) -> String {
        let named = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let real = realpath(path, nil) else { return named }
        defer { free(real) }
        return URL(fileURLWithPath: String(cString: real)).deletingLastPathComponent().path
    }
}
