// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
package import TidebellWire

/// `/tidebell.js`: the client for browsers.
extension SendScript: ServerEndpoint {
    private static let script = StaticFile(
        PackageResources.tidebell_js, type: "text/javascript; charset=utf-8")

    /// Answers with the module, or with 304 to whom has it already.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        script.response(to: request)
    }
}
