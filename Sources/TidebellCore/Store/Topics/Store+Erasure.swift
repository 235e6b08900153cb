// SPDX-License-Identifier: Apache-2.0

/// Accounts that were removed, and what became of their data.
package protocol ErasureReading {
    /// Returns the accounts that were removed while their data was kept, or is being
    /// erased; at most `limit`.
    func removedAccounts(limit: Int) throws -> [RemovedAccount]

    /// Returns users of no account, known or removed, who have databases or are there
    /// themselves; at most `limit`. Older versions wrote for them within seconds of their
    /// erasure.
    func lostUsers(limit: Int) throws -> [UserID]

    /// Returns an account that was removed; nil when nothing of it is left.
    func removedAccount(_ account: AccountID) throws -> RemovedAccount?

    /// Returns what was erased of an account so far.
    func erased(of account: AccountID) throws -> [ErasedKind: Int]
}

/// What a removed account left is erased, step by step.
package protocol ErasureWriting: ErasureReading {
    /// Makes removed accounts of lost users, so that these can be erased; at most `limit`
    /// (``ErasureReading/lostUsers(limit:)``).
    func adoptLostDatabases(limit: Int) throws

    /// Notes that the data of a removed account is to go.
    func beginErasing(_ account: AccountID, _ erasure: RemovedAccount.Erasure) throws

    /// Notes how far public records were looked through.
    func setErasurePosition(_ position: Position, of account: AccountID) throws

    /// Counts what was erased.
    func noteErased(_ kind: ErasedKind, _ count: Int, of account: AccountID) throws

    /// Removes about `limit` rows that belong to the user of a removed account, and with
    /// the last one the user; returns whether that is gone. What is in public databases
    /// stays.
    ///
    /// Files that no record holds any more count as unused since `now`.
    func eraseRows(of user: StoredUser, at now: Instant, limit: Int) throws -> Bool

    /// Forgets an account that has no users any more; what was counted stays.
    func endErasing(_ account: AccountID) throws
}
