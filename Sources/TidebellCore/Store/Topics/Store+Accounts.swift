// SPDX-License-Identifier: Apache-2.0

/// Accounts: the persons who can sign in to this server.
package protocol AccountReading {
    /// Returns how the account with this name signs in.
    func signIn(named name: String) throws -> StoredSignIn?

    /// Returns the name of the account that signs in by an identity of another service.
    func accountName(identifiedBy identity: ForeignIdentity) throws -> String?

    /// Returns all accounts, by name.
    func accounts() throws -> [NamedAccount]

    /// Returns the names of accounts; removed ones are absent.
    func accountNames(_ ids: Set<AccountID>) throws -> [AccountID: String]
}

/// Accounts are made, changed and removed.
package protocol AccountWriting: AccountReading {
    /// Creates an account; throws `EXISTS` if the name is taken.
    func createAccount(named name: String, at now: Instant) throws -> AccountID

    /// Lets an account sign in by an identity, which no account has.
    func putIdentity(_ identity: ForeignIdentity, of account: AccountID) throws

    /// Removes an account with its web tokens, its identities, its server-to-server key, the sign-ins of devices that it let in and the devices and subscriptions of its
    /// users, so that these are refused and nothing is made for them any more (SUB-51).
    /// Its databases stay, until they are erased.
    func removeAccount(_ account: AccountID, at now: Instant) throws

    /// Sets the hash of an account's password; nil takes the password away.
    func setPassword(_ hash: String?, of account: AccountID) throws

    /// Forbids the use of an account, or allows it again.
    func setDisabled(_ isDisabled: Bool, _ account: AccountID) throws
}

extension AccountReading {
    /// Returns the account with this name.
    package func account(named name: String) throws -> AccountID? {
        try signIn(named: name)?.account
    }

    /// Returns all account names in alphabetical order.
    package func accountNames() throws -> [String] {
        try accounts().map(\.name)
    }
}
