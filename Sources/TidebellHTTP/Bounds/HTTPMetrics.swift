// SPDX-License-Identifier: Apache-2.0
package import Metrics
package import TidebellWire

/// What the API counts: refusals by bounds, its own and those that errors name
/// (``WireError/bound``), and damage that its answers name.
package struct HTTPMetrics: Sendable {
    package typealias Bound = WireError.Bound

    private let refusals: [Bound: Counter]
    private let damagedSubscriptions: Counter

    /// Creates the counters in a metrics backend.
    package init(factory: any MetricsFactory = MetricsSystem.factory) {
        damagedSubscriptions = Counter(
            label: "tidebell.answers.subscriptions.damaged", factory: factory)
        refusals = Dictionary(
            uniqueKeysWithValues: Bound.allCases.map { bound in
                let dimensions = [("bound", bound.rawValue)]
                return (
                    bound,
                    Counter(
                        label: "tidebell.refusals", dimensions: dimensions, factory: factory)
                )
            }
        )
    }

    /// Counts a refusal.
    package func refused(_ bound: Bound) { refusals[bound]?.increment() }

    /// Counts a subscription that an answer reports as damaged.
    func metDamagedSubscription() { damagedSubscriptions.increment() }

    /// Counts the refusal that an error reports, if it reports one.
    func count(_ error: WireError) {
        if let bound = error.bound { refused(bound) }
    }
}
