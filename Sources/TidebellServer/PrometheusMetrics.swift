// SPDX-License-Identifier: Apache-2.0
package import Metrics
import Synchronization

/// Keeps what the server counts, for Prometheus to fetch: sums of counters and the latest values of
/// gauges.
///
/// What is kept has a bound of its own: names and labels stand in the program, and none comes from a
/// client.
package final class PrometheusMetrics: MetricsFactory {
    /// What one line of the text begins with.
    private struct Series: Hashable, Comparable {
        var name: String
        var labels: String

        static func < (one: Series, other: Series) -> Bool {
            (one.name, one.labels) < (other.name, other.labels)
        }
    }

    private final class Value: CounterHandler, RecorderHandler {
        private let value = Mutex(0.0)
        let type: String

        init(type: String) { self.type = type }

        var current: Double { value.withLock(\.self) }
        func increment(by amount: Int64) { value.withLock { $0 += Double(amount) } }
        func reset() { value.withLock { $0 = 0 } }
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { self.value.withLock { $0 = value } }
    }

    private let values = Mutex<[Series: Value]>([:])

    /// Creates a backend that counted nothing.
    package init() {}

    /// Makes a backend that all metrics of this process go to from now on; once in a process, before any
    /// of them is made.
    package static func bootstrap() -> PrometheusMetrics {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }

    /// What was counted, in the text format of Prometheus (0.0.4), by name.
    package var text: String {
        let values = values.withLock(\.self).sorted { $0.key < $1.key }
        var text = ""
        var last: String?
        for (series, value) in values {
            if series.name != last { text += "# TYPE \(series.name) \(value.type)\n" }
            last = series.name
            let number = value.current
            let isWhole = number == number.rounded() && abs(number) < 1e15
            text += "\(series.name)\(series.labels) "
            text += isWhole ? "\(Int64(number))\n" : "\(number)\n"
        }
        return text
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        // By its convention, the name of a counter ends so.
        value(of: label + "_total", dimensions, type: "counter")
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        value(of: label, dimensions, type: "gauge")
    }

    /// Nothing is timed so far.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func value(
        of label: String, _ dimensions: [(String, String)], type: String
    ) -> Value {
        let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }
        let series = Series(
            name: Self.name(label),
            labels: labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
        return values.withLock { values in
            if let known = values[series] { return known }
            let value = Value(type: type)
            values[series] = value
            return value
        }
    }

    /// A name as Prometheus has it: letters, digits and underscores.
    private static func name(_ label: String) -> String {
        String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
    }
}
