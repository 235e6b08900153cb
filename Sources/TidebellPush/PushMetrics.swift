// SPDX-License-Identifier: Apache-2.0
package import Metrics

/// What the pipeline counts.
package struct PushMetrics: Sendable {
    /// Notifications made durable.
    let built: Counter
    /// Notifications of which a part was taken away for size (PRUNE-1).
    let pruned: Counter
    /// Notifications merged into a newer one of the same batch (PUSH-2).
    let coalesced: Counter
    /// Passes that failed and are tried again.
    let failures: Counter
    /// Databases whose part of a pass was thrown away, because others had claimed them.
    let lostLeases: Counter
    /// Passes that ended early because their changes or subscriptions had too many bytes, or
    /// there were too many to compare.
    let cutPasses: Counter
    /// Changes that could not be read, and were set aside.
    let damagedChanges: Counter
    /// Subscriptions that could not be read, once for each pass that met them.
    let damagedSubscriptions: Counter
    /// Subscriptions that were held against a change because no index helps with their filters,
    /// once for each change.
    let unindexedSubscriptions: Counter
    /// Databases whose changes could not be read by the latest pass, and wait.
    let heldUpDatabases: Gauge
    /// Outbox entries the latest pass found; at most a pass's bound.
    let outboxDepth: Gauge
    /// Seconds from the oldest pending change to the pass that processes it.
    let outboxLag: Gauge
    /// Notifications handed to device streams.
    let streamDeliveries: Counter
    /// Streams that fell behind and read the log again.
    let streamOverflows: Counter
    /// Open device streams.
    let openStreams: Gauge
    /// Streams and polls that ended because their caller may receive no more.
    let endedListeners: Counter
    /// Notifications that a courier's poller received.
    let courierDeliveries: Counter

    /// Creates the counters in a metrics backend.
    package init(factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ name: String, route: String? = nil) -> Counter {
            let dimensions = route.map { [("route", $0)] } ?? []
            return Counter(
                label: "tidebell.push.\(name)", dimensions: dimensions, factory: factory
            )
        }
        func gauge(_ name: String) -> Gauge {
            Gauge(label: "tidebell.push.\(name)", factory: factory)
        }
        built = counter("notifications.built")
        pruned = counter("notifications.pruned")
        coalesced = counter("notifications.coalesced")
        failures = counter("passes.failed")
        lostLeases = counter("leases.lost")
        cutPasses = counter("passes.cut")
        damagedChanges = counter("changes.damaged")
        damagedSubscriptions = counter("subscriptions.damaged")
        unindexedSubscriptions = counter("subscriptions.unindexed")
        heldUpDatabases = gauge("databases.held")
        outboxDepth = gauge("outbox.depth")
        outboxLag = gauge("outbox.lag.seconds")
        streamDeliveries = counter("deliveries", route: "stream")
        streamOverflows = counter("streams.overflowed")
        openStreams = gauge("streams.open")
        endedListeners = counter("listeners.ended")
        courierDeliveries = counter("deliveries", route: "courier")
    }
}
