// SPDX-License-Identifier: Apache-2.0
package import TidebellWire
import TidebellCore

/// `/health`: whether the server answers and its store can be read.
extension ReportHealth: ServerEndpoint {
    /// Answers `{"status":"ok"}`; for a store that cannot be read 503 with the reason, or 500
    /// where that does not pass by itself.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        // One row by its key: whether there is such a webhook does not matter.
        _ = try await cloud.store.read { try $0.webhook(WebhookID(rawValue: 0)) }
        return .json { ServerStatus("ok").write(to: &$0) }
    }
}
