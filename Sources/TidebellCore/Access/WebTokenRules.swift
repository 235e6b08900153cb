// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// How long web tokens live, and when they are renewed (web-services 2.2).
package enum WebTokenRules {
    /// How long a token of `tidebell login` is valid; a device that signed in with a
    /// password and is used once in half that time never signs in again.
    package static let signInLifetime = Duration.seconds(90 * 24 * 3600)
    /// How long a token of `CKFetchWebAuthTokenOperation` is valid: as long as one
    /// of a web page (WS:SettingUpWebServices).
    package static let fetchedLifetime = Duration.seconds(30 * 60)
    /// How long the token of a page is valid whose user wants to stay signed in
    /// (WS:SettingUpWebServices).
    package static let keptLifetime = Duration.seconds(14 * 24 * 3600)
    /// How long a session goes on, however much it is used, that an identity provider vouched for: whoever left
    /// there is asked to sign in again.
    package static let longestByProvider = Duration.seconds(30 * 24 * 3600)
    /// How long an expired token is remembered: so long its device is asked to sign in
    /// again, afterwards it has no account (ACCT-4).
    package static let memory = Duration.seconds(365 * 24 * 3600)
    /// How long an expired token of a web page is remembered: a page signs in anew.
    package static let pageMemory = Duration.seconds(24 * 3600)
    /// How exactly it is known when a token was used last, so that one that is busy all day
    /// is not written all day.
    package static let usePrecision = Duration.seconds(3600)
    /// How far the clocks of servers of one store may differ: so long before the moment a token that is
    /// ended has expired.
    package static let skew = Duration.seconds(60)
    /// The parts of its lifetime after which a token that was renewed is renewed once
    /// more, since the answer with the new one may have been lost.
    package static let retriesPerLifetime = 16

    /// Which part of its lifetime, of those that time consists of, a token's renewal falls
    /// into: in each a session gets one token, whichever of its tokens is renewed and
    /// however often, so that it has ``retriesPerLifetime`` and two at most.
    package static func part(ofRenewal lifetime: Duration, at now: Instant) -> Int64 {
        let length = Instant(rawValue: 0).advanced(by: lifetime / retriesPerLifetime).rawValue
        return now.rawValue / max(1, length)
    }

    /// Whether the answer to a request with this token shall carry a new one: in the
    /// second half of its lifetime, and not for each of many requests at once.
    package static func isRenewalDue(of token: StoredWebToken, at now: Instant) -> Bool {
        guard let lifetime = token.lifetime, token.endsAt.map({ token.expiresAt < $0 }) ?? true,
            now >= token.expiresAt.advanced(by: .zero - lifetime / 2)
        else { return false }
        guard let renewedAt = token.renewedAt else { return true }
        return now >= renewedAt.advanced(by: lifetime / retriesPerLifetime)
    }

    /// When a token that is made now expires: after its lifetime, or at `end`.
    package static func expiry(
        after lifetime: Duration, at now: Instant, notAfter end: Instant?
    ) -> Instant {
        let expiry = now.advanced(by: lifetime)
        return end.map { min($0, expiry) } ?? expiry
    }

    /// When a token that is ended now counts as expired, and its successors as outlived.
    package static func end(ofTokensEndedAt now: Instant) -> Instant {
        now.advanced(by: .zero - skew)
    }

    /// The moment that tokens which were got with `token`, and their successors, do not
    /// outlive: a token until a given day gives nothing beyond that day.
    package static func end(ofTokensGotWith token: StoredWebToken) -> Instant? {
        token.lifetime == nil ? token.expiresAt : token.endsAt
    }

    /// Returns the token that follows one, in the same session.
    package static func successor(
        of token: StoredWebToken, lifetime: Duration, at now: Instant
    ) -> StoredWebToken {
        var next = token
        next.expiresAt = expiry(after: lifetime, at: now, notAfter: token.endsAt)
        next.renewedAt = nil
        next.createdAt = now
        next.usedAt = nil
        return next
    }

    /// Fails unless a device may sign in with the token: one that was fetched for a
    /// while is for the web, and for that while (ACCT-10).
    package static func checkSignIn(with token: StoredWebToken) throws {
        guard token.origin != .page else {
            throw WireError(
                .accessDenied,
                "a web token that was fetched for a while cannot sign in a device; sign in with "
                    + "a password or a token of the operator's"
            )
        }
    }

    /// Fails unless the token may be used now, in this container and environment: one
    /// of another is as good as unknown, or the page of one app could read its visitors'
    /// data in all others.
    ///
    /// `noAccount` of a device is a removed or unknown token, which gives
    /// `AUTHENTICATION_REQUIRED` alone; the exact codes of the others show clients of
    /// ours to keep what they have (ACCT-3, ACCT-4).
    package static func check(
        _ token: StoredWebToken, for container: ContainerKey, at now: Instant
    ) throws {
        guard token.container.map({ $0 == container }) ?? true, token.origin != .reset else {
            throw WireError.authenticationRequired
        }
        guard !token.isDisabled else { throw WireError.accountDisabled }
        guard token.expiresAt > now else {
            throw WireError(
                .authenticationRequired, "the sign-in has expired: sign in again",
                detail: .init(ckCode: CKErrorCode.accountTemporarilyUnavailable)
            )
        }
    }
}

extension WireError {
    /// The account exists, but may not be used.
    package static let accountDisabled = WireError(
        .authenticationRequired, "the account was disabled by the operator of the server",
        detail: .init(ckCode: CKErrorCode.managedAccountRestricted)
    )
}
