// SPDX-License-Identifier: Apache-2.0
import Metrics

/// What the API counts of its own bounds.
package struct HTTPMetrics: Sendable {
    /// A bound that a request or a connection was refused by.
    package enum Bound: String, Sendable, CaseIterable {
        /// Connections of all.
        case connections
        /// Connections from one address.
        case connectionsPerAddress
        /// Bytes of the bodies of requests and answers.
        case bodyBytes
        /// The time a request may take to arrive.
        case bodyTime
        /// Requests a second.
        case requestRate
        /// Streams, polls or transfers of all.
        case heldRequests
        /// The same of one caller.
        case heldRequestsPerCaller
        /// Sign-ins that wait for their turn.
        case waitingSignIns
        /// Wrong passwords.
        case wrongPasswords
    }

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
}
