// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SessionID {
    /// Bytes of an ID: among a million, two are the same once in ten million stores.
    private static let byteCount = 8

    /// The ID of the session that begins with a token: the beginning of its hash, of
    /// which nobody can tell the token.
    package init(beginningWith hash: [UInt8]) {
        self.init(rawValue: Hex.text(Array(hash.prefix(Self.byteCount))))
    }
}

extension SessionWriting {
    /// Begins a session in the container of a call: keeps its first token, which is good
    /// nowhere else, and makes room for it (``SessionBounds``).
    ///
    /// - Parameters:
    ///   - secret: The token itself.
    ///   - source: The token that was shown to get it; nil for a password.
    func beginSession(
        _ origin: StoredWebToken.Origin, _ secret: String, of account: AccountID,
        with source: StoredWebToken?, lifetime: Duration, for call: Call
    ) throws {
        let hash = Secret.hash(secret)
        let end = source.flatMap(WebTokenRules.end(ofTokensGotWith:))
        let token = StoredWebToken(
            account: account,
            expiresAt: WebTokenRules.expiry(after: lifetime, at: call.now, notAfter: end),
            lifetime: lifetime, endsAt: end, session: SessionID(beginningWith: hash),
            parent: source?.session, origin: origin, container: call.container,
            createdAt: call.now
        )
        try putWebToken(token, hash: hash)
        try SessionBounds.makeRoom(beside: token, limits: call.limits, at: call.now, in: self)
    }
}
