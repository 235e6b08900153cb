// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// The server that runs on a store, as a command beside it sees it.
enum RunningServer {
    /// How often it is looked whether a server that starts has made its files.
    private static let looks = 50
    /// Microseconds between two looks.
    private static let pause: UInt32 = 100_000

    /// How often the list of locks is read before it counts as having none: a lock may be missing
    /// from it while others come and go, about once in a thousand times on a busy machine.
    private static let readings = 8

    /// Fails where a server runs on the store at `path` whose log, or the log's index, was
    /// removed: a command would make new ones, and see and write another store than the server.
    static func checkFiles(ofStoreAt path: String) throws(StoreOpenError) {
        for look in 1...looks {
            guard let missing = StoreFiles.missing(besideDatabaseAt: path),
                let process = process(ofStoreAt: path)
            else { return }
            guard look < looks else { throw .lost(path: missing, process: process) }
            usleep(pause)
        }
    }

    /// The other process that serves the store; nil where none does, or the system does not
    /// report it.
    private static func process(ofStoreAt path: String) -> Int32? {
        // NB: reading the list, and not trying the lock, which would be in the way of a server
        // that starts at the moment.
        let descriptor = Foundation.open("\(path)-server", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = Foundation.close(descriptor) }
        for _ in 0..<readings {
            if let process = LockHolder.process(of: descriptor) { return process }
        }
        return nil
    }
}
