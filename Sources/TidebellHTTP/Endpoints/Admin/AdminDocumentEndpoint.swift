// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// An endpoint for the operator that takes a document, or nothing in place of an empty one, and
/// answers with one.
package protocol AdminDocumentEndpoint: AdminEndpoint
where Request: AdminRequest, Response: AdminAnswer {
    /// What is done, as an error names it, and the environment it is of; nil where a path may have
    /// either.
    static var place: (what: String, environment: CloudEnvironment)? { get }

    /// Does what is asked, in the name of a management token.
    static func answer(
        _ request: Request, of container: ContainerKey, by author: String, in cloud: Cloud
    ) async throws -> Response
}

/// A document that an operator's program sends.
package protocol AdminRequest {
    /// Reads the document.
    init(from reader: inout JSONReader) throws
}

/// A document that an operator's program gets.
package protocol AdminAnswer {
    /// Writes the document.
    func write(to writer: inout JSONWriter)
}

extension AdminDocumentEndpoint {
    package static var place: (what: String, environment: CloudEnvironment)? { nil }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, in cloud: Cloud
    ) async throws -> WebResponse {
        try await respond(to: target, body, of: container, by: "", in: cloud)
    }

    package static func respond(
        to target: RequestTarget, _ body: [UInt8], of container: ContainerKey, by author: String,
        in cloud: Cloud
    ) async throws -> WebResponse {
        if let place, place.environment != container.environment {
            // Otherwise it would be done elsewhere than the path says.
            throw WireError.badRequest(
                "\(place.what) is of \(place.environment.rawValue): write that in the path instead "
                    + "of \(container.environment.rawValue)")
        }
        let body = body.isEmpty ? Array("{}".utf8) : body
        let request = try JSONReader.read(body, Request.init(from:))
        let answer = try await answer(request, of: container, by: author, in: cloud)
        return .json { answer.write(to: &$0) }
    }
}

extension EmptyBody: AdminRequest {}
