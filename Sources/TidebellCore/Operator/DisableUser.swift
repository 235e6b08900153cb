// SPDX-License-Identifier: Apache-2.0

/// Forbids a user the use of the server, or allows it again: the data stays, the account's
/// status is `restricted`.
package enum DisableUser {
    /// Disables or enables the user, and returns how many sessions ended; an unknown name fails.
    ///
    /// Sessions end with it and do not come back: who lost a device, or was broken into, signs
    /// in anew.
    package static func run(
        named name: String, isDisabled: Bool, at now: Instant,
        in transaction: some AccountWriting & SessionWriting
    ) throws -> Int {
        let account = try transaction.user(named: name)
        try transaction.setDisabled(isDisabled, account)
        guard isDisabled else { return 0 }
        return try transaction.endTokens(.account(account, includingOperators: true), at: now)
    }
}
