// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// Logs each kept file that cannot be read once, however often it is asked for.
final class DamagedFileLog: Sendable {
    /// The most files that are remembered; beyond, all are forgotten and may be named again.
    static let capacity = 1000

    private let reported = Mutex<Set<String>>([])

    /// Logs a file unless it was.
    func report(_ file: String, _ problem: String, to logger: Logger) {
        let isNew = reported.withLock { files in
            if files.count >= Self.capacity { files.removeAll() }
            return files.insert(file).inserted
        }
        guard isNew else { return }
        logger.error(
            """
            a file of records is damaged or cannot be read; 'tidebell check' names the records \
            that hold it; put it back from a backup, where it has the same name
            """,
            metadata: ["file": "\(DataFolder.keptFile(file))", "error": "\(problem)"]
        )
    }
}
