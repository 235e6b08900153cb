// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore

/// The right to be the one server of a store, held as long as the process lives.
///
/// It is a file of its own: SQLite's locks on the database would be lost if the
/// process opened and closed that file beside it (POSIX locks belong to the
/// process, not to the file descriptor).
package final class ServerLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Takes the lock of the store at `path`, or fails if another holds it.
    package init(storeAt path: String) throws(StoreOpenError) {
        let descriptor = Foundation.open("\(path)-server", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unwritable(path: "\(path)-server", reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            _ = Foundation.close(descriptor)
            throw .inUse(path: path)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit {
        release()
    }

    /// Gives the lock back; the file stays.
    package func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            // Closing would not be enough: a child process that is about to run
            // another program still has its copy of the descriptor.
            _ = flock(open, LOCK_UN)
            _ = Foundation.close(open)
            descriptor = nil
        }
    }
}
