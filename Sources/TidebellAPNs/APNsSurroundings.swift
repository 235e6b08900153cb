// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
package import TidebellCore
package import TidebellPush

/// What the route needs of the rest of the server, time and chance included.
package struct APNsSurroundings: Sendable {
    package var store: any Store
    package var journal: DeliveryJournal
    package var clock: any Clock<Duration>
    package var now: @Sendable () -> Instant
    /// Makes a number from 0 to 1 that spreads retries.
    package var jitter: @Sendable () -> Double
    /// Makes what leases are known by.
    package var makeUUID: @Sendable () -> UUID
    package var logger: Logger
    package var metrics: APNsMetrics
    /// Called whenever there may be nothing left to do now.
    package var onIdle: @Sendable () -> Void

    /// Creates surroundings.
    package init(
        store: any Store,
        journal: DeliveryJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Instant,
        jitter: @escaping @Sendable () -> Double,
        makeUUID: @escaping @Sendable () -> UUID,
        logger: Logger,
        metrics: APNsMetrics = APNsMetrics(),
        onIdle: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.journal = journal
        self.clock = clock
        self.now = now
        self.jitter = jitter
        self.makeUUID = makeUUID
        self.logger = logger
        self.metrics = metrics
        self.onIdle = onIdle
    }
}
