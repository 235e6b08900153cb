// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// Logs each kept file that cannot be read once, however often it is asked for.
final class DamagedFileLog: Sendable {
    /// The most files that are remembered; beyond, all are forgotten and may be named again.
    static let capacity = 1000

    /// Where a file is.
    private let name: @Sendable (String) -> String
    private let reported = Mutex<Set<String>>([])

    /// What an operator can do.
    private let remedy: String

    init(remedy: String, naming name: @escaping @Sendable (String) -> String) {
        self.remedy = remedy
        self.name = name
    }

    /// Logs a file unless it was.
    func report(_ file: String, _ problem: String, to logger: Logger) {
        let isNew = reported.withLock { files in
            if files.count >= Self.capacity { files.removeAll() }
            return files.insert(file).inserted
        }
        guard isNew else { return }
        logger.error(
            "a file of records is damaged or cannot be read; \(remedy)",
            metadata: ["file": "\(name(file))", "error": "\(problem)"]
        )
    }
}
