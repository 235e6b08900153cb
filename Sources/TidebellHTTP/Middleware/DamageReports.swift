// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization
import TidebellCore
import TidebellWire

/// Logs each damaged record, and other damage, once, however often it is asked for.
package final class DamageReports: Sendable {
    /// The most records that are named; `tidebell check` finds all.
    static let capacity = 1000

    private struct Place: Hashable {
        var container: ContainerKey
        var scope: DatabaseScope
        var zone: String
        var record: String
    }

    private let reported = Mutex<Set<Place>>([])

    private let reportedDamage = Mutex<Set<StoreDamaged>>([])

    /// Creates reports; nothing was logged yet.
    package init() {}

    /// Logs what cannot be read of the store unless it was.
    func report(_ damage: StoreDamaged, to logger: Logger) {
        let isNew = reportedDamage.withLock {
            $0.count < Self.capacity && $0.insert(damage).inserted
        }
        guard isNew else { return }
        logger.error(
            "the database is damaged; run 'tidebell check'",
            metadata: ["error": "\(damage.detail)"]
        )
    }

    /// Logs a record unless it was.
    func report(
        _ container: ContainerKey, _ scope: DatabaseScope, zone: String, record: String,
        to logger: Logger
    ) {
        let place = Place(container: container, scope: scope, zone: zone, record: record)
        let isNew = reported.withLock { $0.count < Self.capacity && $0.insert(place).inserted }
        guard isNew else { return }
        logger.error(
            "a record is damaged; run 'tidebell check'",
            metadata: [
                "container": "\(container.container)",
                "environment": "\(container.environment.rawValue)",
                "database": "\(scope.rawValue)", "zone": "\(zone)", "record": "\(record)",
            ]
        )
    }
}
