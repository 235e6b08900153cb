// SPDX-License-Identifier: Apache-2.0
import Metrics
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

@Suite("What Prometheus fetches")
struct MetricsTests {
    @Test("Counters are sums, gauges the latest values, by name and with their labels")
    func text() {
        let metrics = PrometheusMetrics()
        #expect(metrics.text == "")
        let dimensions = [("bound", "a\"b\\c\nd"), ("route", "x")]
        let refusals = Counter(label: "tidebell.refusals", dimensions: dimensions, factory: metrics)
        refusals.increment()
        // The same once more is the same series.
        Counter(label: "tidebell.refusals", dimensions: dimensions, factory: metrics)
            .increment(by: 2)
        Counter(label: "tidebell.refusals", dimensions: [("bound", "a")], factory: metrics)
            .increment()
        let waiting = Gauge(label: "tidebell.push.waiting", factory: metrics)
        waiting.record(7)
        waiting.record(2.5)
        #expect(
            metrics.text == #"""
                # TYPE tidebell_push_waiting gauge
                tidebell_push_waiting 2.5
                # TYPE tidebell_refusals_total counter
                tidebell_refusals_total{bound="a"} 1
                tidebell_refusals_total{bound="a\"b\\c\nd",route="x"} 3

                """#)
    }

    @Test("They are for who has a management token")
    func endpoint() async throws {
        let metrics = PrometheusMetrics()
        let api = try await TestAPI(
            metrics: HTTPMetrics(factory: metrics), metricsText: { metrics.text })
        let token = try await api.cloud.accounts.makeAdminToken(named: "prometheus")
        for wrong in [nil, "Bearer no", "Bearer \(api.apiToken)"] {
            let headers = wrong.map { ["Authorization": $0] } ?? [:]
            let answer = try await api.send("GET", "/metrics", headers: headers)
            #expect(answer.status == 401 && answer.error?.code == .authenticationFailed)
        }
        let answer = try await api.send(
            "GET", "/metrics", headers: ["Authorization": "Bearer \(token)"])
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(
            answer.text.contains("\ntidebell_refusals_total{bound=\"requestsPerSecond\"} 0\n"))
    }
}
