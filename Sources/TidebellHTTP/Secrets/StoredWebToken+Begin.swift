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

extension StoredWebToken {
    /// Returns the first token of a session in a container, which is good nowhere else.
    ///
    /// - Parameters:
    ///   - secret: The token itself.
    ///   - source: The token that was shown to get it; nil for a password.
    static func begin(
        _ origin: Origin, _ secret: String, of account: AccountID, in container: ContainerKey,
        with source: StoredWebToken?, lifetime: Duration, at now: Instant
    ) -> StoredWebToken {
        let end = source.flatMap(WebTokenRules.end(ofTokensGotWith:))
        return StoredWebToken(
            account: account,
            expiresAt: WebTokenRules.expiry(after: lifetime, at: now, notAfter: end),
            lifetime: lifetime, endsAt: end,
            session: SessionID(beginningWith: Secret.hash(secret)), parent: source?.session,
            origin: origin, container: container, createdAt: now
        )
    }
}
