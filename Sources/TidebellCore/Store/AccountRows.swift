// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A web token as stored: what a signed-in device or page shows.
package struct StoredWebToken: Sendable, Hashable {
    package var account: AccountID
    /// Whether the operator has forbidden the use of the account.
    package var isDisabled: Bool
    package var expiresAt: Instant
    /// How long its successor is valid; nil for a token that is not renewed.
    package var lifetime: Duration?
    /// When its latest successor was made.
    package var renewedAt: Instant?
    /// The moment that no successor outlives; nil for none.
    package var endsAt: Instant?

    /// Creates a row.
    package init(
        account: AccountID,
        isDisabled: Bool = false,
        expiresAt: Instant,
        lifetime: Duration? = nil,
        renewedAt: Instant? = nil,
        endsAt: Instant? = nil
    ) {
        self.account = account
        self.isDisabled = isDisabled
        self.expiresAt = expiresAt
        self.lifetime = lifetime
        self.renewedAt = renewedAt
        self.endsAt = endsAt
    }
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
