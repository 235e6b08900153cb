// SPDX-License-Identifier: Apache-2.0
package import TidebellWire
import TidebellCore

/// `/health`: whether the server answers and its store can be read.
extension ReportHealth: ServerEndpoint {
    /// Answers `{"status":"ok"}`; for a store that cannot be read, or does not answer in time, 503 with the reason,
    /// or 500 where that does not pass by itself.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        try await cloud.readiness.checkReading(cloud.store, in: cloud.time)
        return .json { ServerStatus("ok").write(to: &$0) }
    }
}
