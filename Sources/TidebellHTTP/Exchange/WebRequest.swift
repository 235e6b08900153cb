// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
import TidebellWire

/// A request as it comes in, from a socket or from the same process.
package struct WebRequest: Sendable {
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

    package var method: HTTPRequest.Method
    /// Path and query as sent, percent-encoded.
    package var target: String
    package var headers: HTTPFields
    package var body: Body
    /// What the address it comes from counts as.
    package var origin: CountedAddress
    /// Whether the client is there still; nil for one of the same process.
    package var presence: ClientPresence?
    /// Whether it has to name the host it is for: one that came over HTTP/1.1.
    package var needsHost: Bool
    /// Whether the client reaches the server by https.
    package var isSecure: Bool

    /// Creates a request.
    package init(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: Body = .bytes([]),
        from origin: CountedAddress = .nobody,
        presence: ClientPresence? = nil,
        needsHost: Bool = false,
        isSecure: Bool = false
    ) {
        self.method = method
        self.target = target.withOrderedMarks
        self.headers = headers.withOrderedMarks
        self.body = body
        self.origin = origin
        self.presence = presence
        self.needsHost = needsHost
        self.isSecure = isSecure
    }
}

extension HTTPFields {
    /// The fields, so that what compares them takes a time that grows with their length.
    fileprivate var withOrderedMarks: HTTPFields {
        guard contains(where: { $0.value.utf8.count > String.longestMarkRun }) else { return self }
        return HTTPFields(map { HTTPField(name: $0.name, value: $0.value.withOrderedMarks) })
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
