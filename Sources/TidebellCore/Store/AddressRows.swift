// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// An e-mail address or phone number of an account, as the operator gave it.
package struct StoredAddress: Sendable, Hashable {
    /// In its canonical form (``UserAddress``).
    package var address: UserLookup
    package var account: AccountID
    /// Whether the operator knows that it is theirs. Only then is the account found by it, and
    /// invited by it.
    package var isVerified: Bool

    /// Creates a row.
    package init(address: UserLookup, account: AccountID, isVerified: Bool) {
        self.address = address
        self.account = account
        self.isVerified = isVerified
    }
}
