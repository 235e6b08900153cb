// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore

/// Tells the operator which databases' pushes fail, each once until it works again.
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
            "the changes of a database fail to be told; its pushes wait and are tried again",
            metadata: ["database": "\(database.rawValue)", "error": "\(error)"]
        )
    }

    /// Notes of which databases something was told.
    func told(_ told: Set<DatabaseID>) {
        let better = databases.withLock { databases in
            guard !databases.isEmpty else { return Set<DatabaseID>() }
            defer { databases.subtract(told) }
            return databases.intersection(told)
        }
        for database in better.sorted(by: { $0.rawValue < $1.rawValue }) {
            logger.notice(
                "the changes of a database are told again",
                metadata: ["database": "\(database.rawValue)"]
            )
        }
    }
}
