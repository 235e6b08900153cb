// SPDX-License-Identifier: Apache-2.0

/// A request as it comes in, from a socket or from the same process.
package struct WebRequest: Sendable {
    /// The HTTP methods that the API knows.
    package enum Method: Sendable, Hashable {
        case get, head, post, options
        /// One that no endpoint has.
        case other(String)

        /// Creates a method from its upper-case name.
        package init(_ name: String) {
            switch name {
            case "GET": self = .get
            case "HEAD": self = .head
            case "POST": self = .post
            case "OPTIONS": self = .options
            default: self = .other(name)
            }
        }

        /// The method's name.
        package var name: String {
            switch self {
            case .get: "GET"
            case .head: "HEAD"
            case .post: "POST"
            case .options: "OPTIONS"
            case .other(let name): name
            }
        }
    }

    /// The content of a request.
    package enum Body: Sendable {
        case bytes([UInt8])
        /// It was longer than allowed and therefore not read.
        case tooLong
        /// A file on its way: handed on piece by piece as it comes.
        case stream(@Sendable (inout any BodyWriter) async throws -> Void)
        /// Still with the client: read when the head is in order.
        case pending(any PendingBody)
    }

    package var method: Method
    /// Path and query as sent, percent-encoded.
    package var target: String
    package var headers: Headers
    package var body: Body
    /// Where the request comes from; nil for one of the same process.
    package var remoteAddress: PeerAddress?
    /// Whether the client is there still; nil for one of the same process.
    package var presence: ClientPresence?

    /// Creates a request.
    package init(
        _ method: Method,
        _ target: String,
        headers: Headers = Headers(),
        body: Body = .bytes([]),
        from remoteAddress: PeerAddress? = nil,
        presence: ClientPresence? = nil
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        self.presence = presence
    }
}

/// The body of a request whose head has come; to be read at most once.
package protocol PendingBody: Sendable {
    /// Reads the body into memory; nil when it is longer than `limit`. One that ends early
    /// fails with ``BodyCutShort``.
    ///
    /// Every piece is counted on `share` before it is kept.
    func collect(upTo limit: Int, on share: BodyBytes.Share) async throws -> [UInt8]?
    /// Hands the body on piece by piece as it comes; fails likewise.
    func stream(to writer: inout any BodyWriter) async throws
    /// Learns that the client showed the token of a user.
    func isFromUser()
}

/// The client went away, or took too long, before its body had come.
package struct BodyCutShort: Error {
    /// Creates the error.
    package init() {}
}
