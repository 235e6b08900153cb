// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension SessionWriting {
    /// Begins a session: keeps its first token, and makes room for it (``SessionBounds``).
    ///
    /// - Parameters:
    ///   - hash: The hash under which the token is kept.
    ///   - source: The token that was shown to get it; nil for a password.
    ///   - latest: When it ends however much it is used; nil for whenever it is not renewed.
    ///   - container: Where alone the token is good; nil is everywhere.
    package func beginSession(
        _ origin: StoredWebToken.Origin, _ hash: [UInt8], of account: AccountID,
        with source: StoredWebToken?, lifetime: Duration, notAfter latest: Instant? = nil,
        in container: ContainerKey?, limits: Limits, at now: Instant
    ) throws {
        let end = source.flatMap(WebTokenRules.end(ofTokensGotWith:)) ?? latest
        let token = StoredWebToken(
            account: account,
            expiresAt: WebTokenRules.expiry(after: lifetime, at: now, notAfter: end),
            lifetime: lifetime, endsAt: end,
            session: SessionID(beginningWith: hash, in: account.cell),
            parent: source?.session, origin: origin, container: container,
            createdAt: now
        )
        try putWebToken(token, hash: hash)
        try SessionBounds.makeRoom(beside: token, limits: limits, at: now, in: self)
    }
}
