// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore

/// Reports to the operator which databases' pushes fail, each once until it works again.
final class FailingDatabases: Sendable {
    /// The most that are remembered; while there are as many, no further one is logged.
    static let most = 1000

    private let databases = Mutex(Set<DatabaseID>())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Notes that a pass over a database alone failed.
    func failed(_ database: DatabaseID, _ error: any Error) {
        let isNews = databases.withLock { databases in
            databases.count < Self.most && databases.insert(database).inserted
        }
        guard isNews else { return }
        logger.warning(
            "the push pipeline fails for the changes of a database; its pushes wait and are tried again",
            metadata: ["database": "\(database.rawValue)", "error": "\(error)"]
        )
    }

    /// Notes of which databases changes were processed.
    func notified(_ notified: Set<DatabaseID>) {
        let better = databases.withLock { databases in
            guard !databases.isEmpty else { return Set<DatabaseID>() }
            defer { databases.subtract(notified) }
            return databases.intersection(notified)
        }
        for database in better.sorted(by: { $0.rawValue < $1.rawValue }) {
            logger.notice(
                "the push pipeline works again for the changes of a database",
                metadata: ["database": "\(database.rawValue)"]
            )
        }
    }
}
