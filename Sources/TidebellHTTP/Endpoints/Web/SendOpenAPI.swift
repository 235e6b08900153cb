// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// `/openapi.json`: the description of the API.
extension SendOpenAPI: ServerEndpoint {
    private static let description = StaticFile(
        OpenAPI.document, type: "application/json; charset=UTF-8")

    /// Answers with the document, or with 304 to whom has it already.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        description.response(to: request)
    }
}
