// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// `/metrics`: what the server counts, in the text format of Prometheus (0.0.4), for who has a
/// management token, if only for that.
extension ReportMetrics: ServerEndpoint {
    /// Answers with all counters and gauges.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        try await cloud.requireAdmin(request, for: .metrics)
        return WebResponse(
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .bytes(Array(cloud.metricsText().utf8)))
    }
}
