// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore
import Metrics

/// Reports to the operator what a pass cannot read: counts all of it, and logs each once.
final class DamageReport: Sendable {
    /// The most that are remembered as logged; beyond it nothing more is logged.
    static let most = 1000

    private enum Damaged: Hashable {
        case subscription(SubscriptionSerial)
        case database(DatabaseID)
    }

    private let logged = Mutex(Set<Damaged>())
    private let logger: Logger
    private let metrics: PushMetrics

    init(logger: Logger, metrics: PushMetrics) {
        self.logger = logger
        self.metrics = metrics
    }

    /// Reports what was met while a batch was read.
    func report(_ batch: OutboxBatch) {
        if !batch.damagedSubscriptions.isEmpty {
            metrics.damagedSubscriptions.increment(by: batch.damagedSubscriptions.count)
        }
        for serial in batch.damagedSubscriptions where isNew(.subscription(serial)) {
            logger.error(
                "a subscription is damaged and does not fire any more",
                metadata: ["subscription": "\(serial.rawValue)"]
            )
        }
        if !batch.heldUp.isEmpty { metrics.heldUpDatabases.record(batch.heldUp.count) }
        for database in batch.heldUp where isNew(.database(database)) {
            logger.error(
                "the changes of a database cannot be read; its pushes wait",
                metadata: ["database": "\(database.rawValue)"]
            )
        }
    }

    /// Reports changes that were set aside, which happens to each once.
    func report(_ changes: [OutboxEntry]) {
        for change in changes {
            metrics.damagedChanges.increment()
            logger.error(
                "a change in the outbox is damaged; it is set aside, and devices get a push to fetch",
                metadata: [
                    "database": "\(change.database.rawValue)", "zone": "\(change.zoneName)",
                    "entry": "\(change.position.rawValue)",
                ]
            )
        }
    }

    private func isNew(_ damaged: Damaged) -> Bool {
        logged.withLock { logged in
            logged.count < Self.most && logged.insert(damaged).inserted
        }
    }
}
