// SPDX-License-Identifier: Apache-2.0

/// An endpoint of a container: one operation of the Web Services API.
///
/// The shape of all of them: read the request, run the rule of the same name in
/// one transaction, write the answer. Only a write that may be sent again is answered
/// within the transaction, which keeps the answer.
package protocol Endpoint: SendableMetatype {
    /// The methods it answers; POST unless it says otherwise.
    static var methods: [WebRequest.Method] { get }
    /// Who may call it; signed-in users unless it says otherwise.
    static var access: EndpointAccess { get }
    /// Whether it changes nothing, so that its answer can be refused for want of memory and
    /// asked for again; not unless it says so.
    static var onlyReads: Bool { get }
    /// Answers a request; what the caller caused is thrown as `WireError` or
    /// `JSONError`.
    static func respond(to exchange: Exchange) async throws -> WebResponse
}

/// Who may call an endpoint (ACCT-3).
package enum EndpointAccess: Sendable {
    /// Everybody in the public database, signed-in users in the others.
    case reader
    /// Signed-in users.
    case user
    /// Everybody with an API token, in any path: who is about to sign in.
    case anyone
}

extension Endpoint {
    package static var methods: [WebRequest.Method] { [.post] }
    package static var access: EndpointAccess { .user }
    package static var onlyReads: Bool { false }
}

extension [WebRequest.Method] {
    /// The methods of operations that are documented as GET: they also come as
    /// POST with `{}` (web-services 1.2).
    package static let getOrPost: [WebRequest.Method] = [.get, .post]
}

/// An endpoint of the server itself, called without tokens.
package protocol ServerEndpoint: SendableMetatype {
    /// Answers a request; `argument` is the path segment after the endpoint's
    /// name, empty if there is none.
    static func respond(to argument: String, in cloud: Cloud) async throws -> WebResponse
}
