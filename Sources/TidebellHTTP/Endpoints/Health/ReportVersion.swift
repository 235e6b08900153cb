// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `/version`: which version of the server this is.
extension ReportVersion: ServerEndpoint {
    /// Answers `{"name":"tidebell","version":"…"}`.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        .json { ServerVersion(Version.text).write(to: &$0) }
    }
}
