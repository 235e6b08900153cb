// SPDX-License-Identifier: Apache-2.0

/// Gives a user a password, which replaces the one before.
package enum SetPassword {
    /// Keeps the password's hash and ends the user's sessions; returns how many. An unknown
    /// name fails. PasswordRule decides what may be a password, before it is hashed.
    ///
    /// - Parameter keepsTokens: Whether the tokens that the operator made stay valid.
    package static func run(
        _ hash: String, of name: String, keepsTokens: Bool, at now: Instant,
        in transaction: some AccountWriting & SessionWriting
    ) throws -> Int {
        let account = try transaction.user(named: name)
        try transaction.setPassword(hash, of: account)
        return try transaction.endTokens(
            .account(account, includingOperators: !keepsTokens), at: now
        )
    }
}
