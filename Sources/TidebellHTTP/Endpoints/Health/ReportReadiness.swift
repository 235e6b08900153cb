// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `/ready`: whether the server can do its work, which is to write.
extension ReportReadiness: ServerEndpoint {
    /// Answers `{"status":"ready"}`, or 503 with the reason, also where the store does not answer in time.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        try await cloud.readiness.check(cloud.store, in: cloud.time)
        return .json { ServerStatus("ready").write(to: &$0) }
    }
}
