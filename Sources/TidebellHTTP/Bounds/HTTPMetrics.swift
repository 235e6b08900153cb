// SPDX-License-Identifier: Apache-2.0
import Metrics
import TidebellWire

/// What the API counts of bounds: its own, and those that errors name (``WireError/bound``).
package struct HTTPMetrics: Sendable {
    package typealias Bound = WireError.Bound

    private let refusals: [Bound: Counter]

    /// Creates the counters in a metrics backend.
    package init(factory: any MetricsFactory = MetricsSystem.factory) {
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

    /// Counts a refusal that an error tells, if it does.
    func count(_ error: WireError) {
        if let bound = error.bound { refused(bound) }
    }
}
