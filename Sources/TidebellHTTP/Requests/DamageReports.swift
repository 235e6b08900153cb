// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore
import TidebellWire

/// Logs each damaged record and subscription, and other damage, once, however often it is asked
/// for.
package final class DamageReports: Sendable {
    /// The most that are named; a search (``DamageSearch``) finds all.
    static let capacity = 1000

    private struct Subject: Hashable {
        var container: ContainerKey
        var scope: DatabaseScope
        var item: Item
    }

    private enum Item: Hashable {
        case record(String, zone: String)
        /// The key of a zone's encrypted fields.
        case fieldKey(zone: String)
        case subscription(String)
    }

    private let reported = Mutex<Set<Subject>>([])

    private let reportedDamage = Mutex<Set<StoreDamaged>>([])

    /// Creates reports; nothing was logged yet.
    package init() {}

    /// Logs what cannot be read of the store unless it was.
    func report(_ damage: StoreDamaged, _ search: DamageSearch, to logger: Logger) {
        let isNew = reportedDamage.withLock {
            $0.count < Self.capacity && $0.insert(damage).inserted
        }
        guard isNew else { return }
        logger.error(
            "the database is damaged; \(search.advice)",
            metadata: ["error": "\(damage.detail)"]
        )
    }

    /// Logs a record, or without one the key of a zone's encrypted fields, unless it was.
    func report(
        _ container: ContainerKey, _ scope: DatabaseScope, zone: String, record: String?,
        _ search: DamageSearch, to logger: Logger
    ) {
        guard let record else {
            return report(
                "the key of a zone's encrypted fields cannot be opened; \(search.advice)",
                Subject(container: container, scope: scope, item: .fieldKey(zone: zone)),
                ["zone": "\(zone)"], to: logger
            )
        }
        report(
            "a record is damaged; \(search.advice)",
            Subject(container: container, scope: scope, item: .record(record, zone: zone)),
            ["zone": "\(zone)", "record": "\(record)"], to: logger
        )
    }

    /// Logs a subscription unless it was.
    func report(
        _ container: ContainerKey, _ scope: DatabaseScope, subscription: String,
        _ search: DamageSearch, to logger: Logger
    ) {
        report(
            "a subscription is damaged and does not fire any more; \(search.advice)",
            Subject(container: container, scope: scope, item: .subscription(subscription)),
            ["subscription": "\(subscription)"], to: logger
        )
    }

    private func report(
        _ message: Logger.Message, _ subject: Subject, _ item: Logger.Metadata, to logger: Logger
    ) {
        let isNew = reported.withLock { $0.count < Self.capacity && $0.insert(subject).inserted }
        guard isNew else { return }
        var metadata = item
        metadata["container"] = "\(subject.container.container)"
        metadata["environment"] = "\(subject.container.environment.rawValue)"
        metadata["database"] = "\(subject.scope.rawValue)"
        logger.error(message, metadata: metadata)
    }
}
