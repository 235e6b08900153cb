// SPDX-License-Identifier: Apache-2.0

/// Web tokens, and the sessions they make.
package protocol SessionReading {
    /// Returns the web token with this hash, also one that has expired.
    func webToken(hash: WebTokenHash) throws -> StoredWebToken?

    /// Returns the sessions of an account that have a token which is valid at `now`,
    /// oldest first, at most `limit`.
    func sessions(of account: AccountID, at now: Instant, limit: Int) throws -> [StoredSession]

    /// Returns the sessions of a token's account that have its origin and its container, and
    /// a token that is valid at `now`: those that would expire first first, at most `limit`.
    func sessions(
        like token: StoredWebToken, at now: Instant, limit: Int
    ) throws -> [StoredSession]

    /// Returns the sessions that a session was begun with, one with the other: each ends all
    /// that come after it, also where those between have expired.
    func ancestors(of session: SessionID) throws -> Set<SessionID>

    /// Until when the session has a valid token, unless that is renewed; nil when it is
    /// signed out, expired, or its account disabled or removed.
    func end(of session: SessionID, at now: Instant) throws -> Instant?

    /// Returns those of the listeners who may go on hearing. Cost grows with the
    /// listeners, in a bounded number of statements and one for each API token.
    func listening(among listeners: Set<Listener>, at now: Instant) throws -> Set<Listener>
}

/// Sessions begin, are used, and end.
package protocol SessionWriting: SessionReading {
    /// Stores a web token by its hash, in the cell that its session names; one with a lifetime is renewed for as long
    /// again before it expires, but not past its end.
    func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws

    /// Notes that a web token was followed by another.
    func markWebTokenRenewed(hash: WebTokenHash, at now: Instant) throws

    /// Notes that tokens were in use, to the hour; what is gone is ignored.
    func noteUse(of tokens: [UsedToken: Instant]) throws

    /// Lets tokens expire, so that who shows one is to sign in again, and none follows them any more: by every
    /// clock that is no more than ``WebTokenRules/skew`` behind. Returns how many sessions ended that had not
    /// expired at `now`.
    func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int

    /// Removes all tokens of a session and of those that were begun with it: who
    /// shows one is unknown. Returns the sessions that went; what is gone is ignored.
    func removeSessions(begunWith session: SessionID) throws -> Set<SessionID>

    /// Removes web tokens that expired before `moment`, those of web pages that
    /// expired before `pageMoment`, at most `limit` of each; returns how many went.
    func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int
}

extension SessionWriting {
    /// Removes a session, and those that were begun with it.
    package func removeSession(_ session: SessionID) throws {
        _ = try removeSessions(begunWith: session)
    }
}
