// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellWire

/// Lets pages of other origins use the API: CloudKit JS runs in browsers
/// (web-services 1.2).
///
/// Every origin is let in, with credentials: nothing a browser adds by itself
/// counts as credentials here, only tokens that the page knows.
enum CrossOrigin {
    /// The headers of answers that CloudKit JS reads.
    private static let exposed = [
        WireProtocol.webAuthTokenHeader, "X-Apple-CloudKit-Session",
        WireProtocol.requestUUIDHeader, "Retry-After",
    ].joined(separator: ", ")
    /// How long a browser may remember the answer: a day, in seconds.
    private static let maximumAge = "86400"
    /// The longest list of headers that is let through as asked.
    private static let requestedHeadersLength = 1024

    /// Answers the question browsers ask before a request.
    ///
    /// - Parameter opensNetwork: Whether pages of the Internet may reach a server that is in a private
    ///   network, or on the browser's own machine.
    static func preflight(for request: WebRequest, opensNetwork: Bool) -> WebResponse {
        var headers: HTTPFields = [
            .allow: "GET, POST, OPTIONS",
            .accessControlAllowMethods: "GET, POST, OPTIONS",
            .accessControlMaxAge: maximumAge,
        ]
        if let asked = request.headers[.accessControlRequestHeaders],
            asked.utf8.count <= requestedHeadersLength
        {
            headers[.accessControlAllowHeaders] = asked
        }
        if opensNetwork, request.headers[.requestPrivateNetwork] == "true" {
            headers[.allowPrivateNetwork] = "true"
        }
        return WebResponse(status: 204, headers: headers)
    }

    /// Marks an answer as readable by the page that asked.
    static func allow(_ request: WebRequest, in response: inout WebResponse) {
        guard let origin = request.headers[.origin] else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.accessControlExposeHeaders] = exposed
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
    }
}
