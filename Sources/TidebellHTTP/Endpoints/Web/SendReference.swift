// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
package import TidebellWire

/// `/reference`: what a developer of a client has to know, as a page for browsers and as text for all others.
extension SendReference: ServerEndpoint {
    private static let text = StaticFile(
        PackageResources.reference_md, type: "text/plain; charset=utf-8")

    private static let page = PageTexts.page(
        "Web Services: reference",
        HTML(markdown: String(decoding: PackageResources.reference_md, as: UTF8.self)),
        isWide: true)

    /// Answers with the page; with the text, or 304 to whom has that already.
    package static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse {
        var response: WebResponse
        if request.headers[.accept]?.contains("text/html") == true {
            response = .page(page, status: 200)
            for field in PageStyle.headers { response.headers[field.name] = field.value }
        } else {
            response = text.response(to: request)
        }
        response.headers[.vary] = "Accept"
        return response
    }
}
