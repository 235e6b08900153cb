// SPDX-License-Identifier: Apache-2.0
package import Metrics

/// What the route counts.
package struct APNsMetrics: Sendable {
    /// Notifications that Apple's service took.
    let deliveries: Counter
    /// Answers and silences that are tried again.
    let retries: Counter
    /// Notifications that the service will never take.
    let skipped: Counter
    /// Push tokens that are dead and were forgotten.
    let forgotten: Counter
    /// Times that a container's pushes paused.
    let pauses: Counter

    /// Creates the counters in a metrics backend.
    package init(factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ name: String) -> Counter {
            Counter(
                label: "tidebell.push.\(name)", dimensions: [("route", "apns")], factory: factory)
        }
        deliveries = counter("deliveries")
        retries = counter("retries")
        skipped = counter("skipped")
        forgotten = counter("tokens.forgotten")
        pauses = counter("pauses")
    }
}
