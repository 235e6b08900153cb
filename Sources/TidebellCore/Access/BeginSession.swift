// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension SessionWriting {
    /// Begins a session in the container of a call: keeps its first token, which is good
    /// nowhere else, and makes room for it (``SessionBounds``).
    ///
    /// - Parameters:
    ///   - hash: The hash under which the token is kept.
    ///   - source: The token that was shown to get it; nil for a password.
    package func beginSession(
        _ origin: StoredWebToken.Origin, _ hash: [UInt8], of account: AccountID,
        with source: StoredWebToken?, lifetime: Duration, for call: Call
    ) throws {
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
