// SPDX-License-Identifier: Apache-2.0
package import Metrics
import Synchronization

/// A metrics backend that keeps sums of counters and the latest of gauges.
package final class Tally: MetricsFactory {
    private let state = Mutex<[String: Double]>([:])

    /// Creates a backend that counted nothing.
    package init() {}

    /// The values by label, with the route or bound where there is one.
    package var values: [String: Double] { state.withLock(\.self) }

    private final class Entry: CounterHandler, RecorderHandler {
        let name: String
        let tally: Tally

        init(_ label: String, _ dimensions: [(String, String)], _ tally: Tally) {
            name = ([label] + dimensions.map(\.1)).joined(separator: " ")
            self.tally = tally
        }

        func increment(by amount: Int64) {
            tally.state.withLock { $0[name, default: 0] += Double(amount) }
        }

        func reset() { tally.state.withLock { $0[name] = nil } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { tally.state.withLock { $0[name] = value } }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Entry(label, dimensions, self)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        Entry(label, dimensions, self)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
