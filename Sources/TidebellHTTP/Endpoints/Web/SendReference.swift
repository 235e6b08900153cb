// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
package import TidebellWire

/// `/reference`: what a developer of a client has to know, as text.
extension SendReference: ServerEndpoint {
    private static let text = StaticFile(
        PackageResources.reference_md, type: "text/plain; charset=utf-8")

    /// Answers with the page, or with 304 to whom has it already.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        text.response(to: request)
    }
}
