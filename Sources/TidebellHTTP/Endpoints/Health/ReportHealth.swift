// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// `/health`: whether the server answers and its store can be read.
extension ReportHealth: ServerEndpoint {
    /// Answers `{"status":"ok"}`; a store that cannot be read is a 500.
    package static func respond(
        to argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        _ = try await cloud.store.read { try $0.notificationHead() }
        return .json { ServerStatus("ok").write(to: &$0) }
    }
}
