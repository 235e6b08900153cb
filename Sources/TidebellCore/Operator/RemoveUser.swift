// SPDX-License-Identifier: Apache-2.0

/// Removes a user, whose tokens are refused from then on, with subscriptions and devices; the
/// data stays unless it is erased.
package enum RemoveUser {
    /// Removes the user of this name, and returns the account; an unknown name fails.
    package static func run(
        named name: String, erasing erasure: RemovedAccount.Erasure, at now: Instant,
        in transaction: some AccountWriting & ErasureWriting
    ) throws -> AccountID {
        let account = try transaction.user(named: name)
        try transaction.removeAccount(account, at: now)
        if erasure != .none { try transaction.beginErasing(account, erasure) }
        return account
    }
}
