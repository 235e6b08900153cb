// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A web token as stored: what a signed-in device or page shows.
package struct StoredWebToken: Sendable, Hashable {
    /// How a token was made.
    package enum Origin: String, Sendable, Hashable {
        /// By the operator, for whom they like.
        case `operator`
        /// For a device that signed in.
        case device
        /// For a web page, which a signed-in app asked for (ACCT-10).
        case page
        /// A link by which a user sets a new password, once: no token that anybody is known by.
        case reset
    }

    package var account: AccountID
    /// Whether the operator has forbidden the use of the account; of the account, not
    /// stored with the token.
    package var isDisabled: Bool
    package var expiresAt: Instant
    /// How long its successor is valid; nil for a token that is not renewed.
    package var lifetime: Duration?
    /// When its latest successor was made.
    package var renewedAt: Instant?
    /// The moment that no successor outlives; nil for none.
    package var endsAt: Instant?
    /// What ends as one: the token and its successors.
    package var session: SessionID
    /// The session of the token that was shown to get this one: it ends this one too.
    package var parent: SessionID?
    package var origin: Origin
    /// The only container, in its environment, where it is known; nil for everywhere.
    package var container: ContainerKey?
    /// When it was made; zero for tokens from before that was written down.
    package var createdAt: Instant
    /// When it was used last, to the hour.
    package var usedAt: Instant?

    /// Creates a row.
    package init(
        account: AccountID,
        isDisabled: Bool = false,
        expiresAt: Instant,
        lifetime: Duration? = nil,
        renewedAt: Instant? = nil,
        endsAt: Instant? = nil,
        session: SessionID,
        parent: SessionID? = nil,
        origin: Origin = .operator,
        container: ContainerKey? = nil,
        createdAt: Instant = Instant(rawValue: 0),
        usedAt: Instant? = nil
    ) {
        self.account = account
        self.isDisabled = isDisabled
        self.expiresAt = expiresAt
        self.lifetime = lifetime
        self.renewedAt = renewedAt
        self.endsAt = endsAt
        self.session = session
        self.parent = parent
        self.origin = origin
        self.container = container
        self.createdAt = createdAt
        self.usedAt = usedAt
    }
}

/// A session as its tokens show it: one sign-in of a device or page, or one token of the
/// operator's.
package struct StoredSession: Sendable, Hashable {
    package var id: SessionID
    package var account: AccountID
    package var origin: StoredWebToken.Origin
    /// The only container where it is good; nil for everywhere.
    package var container: ContainerKey?
    package var createdAt: Instant
    /// When it was used last, to the hour.
    package var usedAt: Instant?
    /// When its last token expires, unless that is renewed.
    package var expiresAt: Instant
    /// The session it was begun with, which ends it too.
    package var parent: SessionID?

    /// Creates a value.
    package init(
        id: SessionID, account: AccountID, origin: StoredWebToken.Origin,
        container: ContainerKey? = nil, createdAt: Instant, usedAt: Instant? = nil,
        expiresAt: Instant, parent: SessionID? = nil
    ) {
        self.id = id
        self.account = account
        self.origin = origin
        self.container = container
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.expiresAt = expiresAt
        self.parent = parent
    }
}

/// Who somebody is to another service, which they sign in by (OpenID Connect).
package struct ForeignIdentity: Sendable, Hashable {
    /// The most bytes of each part.
    package static let mostBytes = 255

    /// The URL of the service.
    package var issuer: String
    /// What the service calls them, for ever.
    package var subject: String

    /// Creates an identity.
    package init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// Which web tokens of an account end.
package enum EndedTokens: Sendable, Hashable {
    /// One session, and those that were begun with it.
    case session(SessionID)
    /// All sessions of an account; its operator's tokens only where they are asked for.
    case account(AccountID, includingOperators: Bool)
}

/// The tokens that belong to no user.
package enum TokenKind: String, Sendable, Hashable, CaseIterable {
    /// What every program needs beside its user's web token.
    case api
    /// With it the operator asks over the network.
    case management
}

/// What alone a management token can be good for.
package enum ManagementTask: String, Sendable, Hashable, CaseIterable {
    /// To read `/metrics`.
    case metrics
}

/// An API or management token as stored.
package struct StoredToken: Sendable, Hashable {
    package var hash: [UInt8]
    /// What the operator calls it.
    package var name: String
    /// The only container it is for; nil for all of them.
    package var container: ContainerKey?
    package var createdAt: Instant
    /// When it expires; nil for never.
    package var expiresAt: Instant?
    /// When it was used last, to the hour.
    package var usedAt: Instant?
    /// Of an API token, how users sign in on the server's page.
    package var signIn: AppSignIn
    /// Of a management token, what alone it is good for; nil for all that an operator does.
    package var task: ManagementTask?

    /// Creates a row.
    package init(
        hash: [UInt8], name: String, container: ContainerKey? = nil, createdAt: Instant,
        expiresAt: Instant? = nil, usedAt: Instant? = nil, signIn: AppSignIn = AppSignIn(),
        task: ManagementTask? = nil
    ) {
        self.hash = hash
        self.name = name
        self.container = container
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.signIn = signIn
        self.task = task
    }
}

/// Whose token was used, by its hash.
package enum UsedToken: Sendable, Hashable {
    case web(WebTokenHash)
    case kind(TokenKind, [UInt8])
}

/// How an account signs in.
package struct StoredSignIn: Sendable, Hashable {
    package var account: AccountID
    /// Whether the operator has forbidden the use of the account.
    package var isDisabled: Bool
    /// The hash of the password; nil for an account that has none.
    package var password: String?

    /// Creates a row.
    package init(account: AccountID, isDisabled: Bool, password: String?) {
        self.account = account
        self.isDisabled = isDisabled
        self.password = password
    }
}

/// An account in a list.
package struct NamedAccount: Sendable, Hashable {
    package var account: AccountID
    package var name: String
    /// Whether the operator has forbidden the use of the account.
    package var isDisabled: Bool

    /// Creates a row.
    package init(account: AccountID, name: String, isDisabled: Bool) {
        self.account = account
        self.name = name
        self.isDisabled = isDisabled
    }
}
