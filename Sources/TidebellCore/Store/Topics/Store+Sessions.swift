// SPDX-License-Identifier: Apache-2.0

/// Web tokens, and the sessions they make.
package protocol SessionReading {
    /// Returns the web token with this hash, also one that has expired.
    func webToken(hash: [UInt8]) throws -> StoredWebToken?

    /// Returns the sessions of an account that have a token which is valid at `now`,
    /// oldest first, at most `limit`.
    func sessions(of account: AccountID, at now: Instant, limit: Int) throws -> [StoredSession]

    /// Until when the session has a valid token, unless that is renewed; nil when it is
    /// signed out, expired, or its account disabled or removed.
    func end(of session: SessionID, at now: Instant) throws -> Instant?

    /// Returns those of the listeners who may go on hearing. Cost grows with the
    /// listeners, in a bounded number of statements.
    func listening(among listeners: Set<Listener>, at now: Instant) throws -> Set<Listener>
}

/// Sessions begin, are used, and end.
package protocol SessionWriting: SessionReading {
    /// Stores a web token by its hash; one with a lifetime is renewed for as long
    /// again before it expires, but not past its end.
    func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws

    /// Notes that a web token was followed by another.
    func markWebTokenRenewed(hash: [UInt8], at now: Instant) throws

    /// Notes that tokens were in use, to the hour; what is gone is ignored.
    func noteUse(of tokens: [UsedToken: Instant]) throws

    /// Lets tokens expire now: who shows one is to sign in again. Returns how many
    /// sessions ended.
    func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int

    /// Removes all tokens of a session and of those that were begun with it: who
    /// shows one is unknown. What is gone is ignored.
    func removeSession(_ session: SessionID) throws

    /// Removes web tokens that expired before `moment`, those of web pages that
    /// expired before `pageMoment`, at most `limit` of each; returns how many went.
    func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int
}
