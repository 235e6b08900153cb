// SPDX-License-Identifier: Apache-2.0
import Metrics
import Synchronization

/// A metrics backend that keeps sums of counters and the latest of gauges.
final class Tally: MetricsFactory {
    private let state = Mutex<[String: Double]>([:])

    /// The values by label, with the route where there is one.
    var values: [String: Double] { state.withLock(\.self) }

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

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Entry(label, dimensions, self)
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        Entry(label, dimensions, self)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
