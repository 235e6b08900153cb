// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

/// One authenticated request to one container: what an endpoint works with.
///
/// A class, since it is handed on often and has much in it.
package final class Exchange: Sendable {
    /// The API that was asked.
    private let services: WebServices
    /// The request as sent; its body is within the limit.
    package let request: WebRequest
    package let target: RequestTarget
    /// The caller, the database and the moment of the request.
    package let call: Call
    /// The URL under which the caller reaches this server, without a slash at
    /// the end.
    package let baseURL: String
    /// The hash of the request's web token; nil for a request without one.
    let webTokenHash: WebTokenHash?
    /// What a program signed the request with; nil for a request with tokens.
    let signature: VerifiedSignature?
    /// The web token that replaces the request's; nil for none.
    let nextWebToken: String?
    let body: [UInt8]
    /// What the body counts for as long as the request is under way.
    let bodyShare: BodyBytes.Share?

    init(
        services: WebServices, request: WebRequest, target: RequestTarget, call: Call,
        baseURL: String,
        webTokenHash: WebTokenHash?, signature: VerifiedSignature? = nil, nextWebToken: String?,
        body: [UInt8], bodyShare: BodyBytes.Share?
    ) {
        self.services = services
        self.request = request
        self.target = target
        self.call = call
        self.baseURL = baseURL
        self.webTokenHash = webTokenHash
        self.signature = signature
        self.nextWebToken = nextWebToken
        self.body = body
        self.bodyShare = bodyShare
    }

    /// What the cloud consists of.
    package var cloud: Cloud { services.cloud }

    /// Reads the body, which must be one JSON document of what `read` expects.
    package func read<Value>(_ read: (inout JSONReader) throws -> Value) throws -> Value {
        try JSONReader.read(body, read)
    }

    /// Reads the body as an endpoint's request; fails when it has more items than allowed
    /// (LIMIT-1, LIMIT-5).
    package func read<Request: WireBody>(_: Request.Type) throws -> Request {
        let request = try read { try Request(from: &$0) }
        if let itemCount = request.itemCount { try check(itemCount: itemCount) }
        return request
    }

    /// Checks the body of a request that needs none: it is absent or any
    /// JSON object (web-services 1.2).
    package func readNothing() throws {
        guard !body.isEmpty else { return }
        _ = try read(EmptyBody.self)
    }

    /// Fails unless a request's number of items is allowed (LIMIT-1, LIMIT-5).
    package func check(itemCount: Int) throws {
        let most = call.limits.items(forExtendedClient: call.usesExtensions)
        guard itemCount <= most else {
            throw WireError.badRequest(
                "Your request contains \(itemCount) items which is more than the maximum number "
                    + "of items in a single request (\(most))",
                ckCode: CKErrorCode.limitExceeded
            )
        }
    }

    /// Returns the web token of the request as it is now; nil for a request without one.
    ///
    /// The caller may be a remembered one, see ``CallerCache``: nothing may be made from a
    /// token that was removed since, or whose time is up. Fails as if it had come now.
    func webToken(in reader: some SessionReading) throws -> StoredWebToken? {
        guard let hash = webTokenHash else { return nil }
        var signIn: SignInPage {
            SignInPage(
                baseURL: baseURL, container: call.container,
                apiToken: try? target.parameter(WireProtocol.apiToken))
        }
        if let signature { return try self.token(of: signature, hash: hash, in: reader) }
        guard let token = try reader.webToken(hash: hash) else { throw signIn.required }
        do {
            try WebTokenRules.check(token, for: call.container, at: call.now)
        } catch let error as WireError {
            throw signIn.leading(error)
        }
        return token
    }

    /// Returns the web token that stands for a server-to-server key.
    private func token(
        of signature: VerifiedSignature, hash: WebTokenHash, in reader: some SessionReading
    ) throws -> StoredWebToken {
        guard let token = try reader.webToken(hash: hash),
            (try? WebTokenRules.check(token, for: call.container, at: call.now)) != nil
        else { throw WireError.unknownServerKey(signature.keyID, in: call.container) }
        return token
    }

    /// Returns the caller's client ID, which requests about its device need.
    package func requireClientID() throws -> String {
        guard let clientID = call.clientID else {
            throw WireError.badRequest("missing query parameter '\(WireProtocol.clientID)'")
        }
        return clientID
    }
}

/// The signature of a request, found good.
package struct VerifiedSignature: Sendable, Hashable {
    /// The ID of the key.
    var keyID: String
    /// What distinguishes the signature from others of the key.
    var identity: String
}
