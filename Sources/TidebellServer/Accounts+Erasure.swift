// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

// The data that removed users leave.
extension Accounts {
    /// Returns the users who were removed and whose data is still there.
    package func removed() async throws -> [RemovedAccount] {
        try await store.read { try ListRemovedUsers.run(in: $0) }
    }

    /// Returns names of those users who were erased and for whom an older version stored
    /// something afterwards; ``beginErasing(_:_:)`` knows them.
    package func lostUsers() async throws -> [String] {
        try await store.read { try EraseRemovedUser.lostUsers(in: $0) }
    }

    /// Whether anything is kept of a user who was removed.
    package func hasData(of account: AccountID) async throws -> Bool {
        try await store.read { try $0.removedAccount(account) } != nil
    }

    /// Notes that the data of a removed user is to be erased, and returns the account.
    ///
    /// - Parameter name: The name the user had, or the number of the account, which distinguishes
    ///   several of one name, or one of ``lostUsers()``.
    package func beginErasing(
        _ name: String, _ erasure: RemovedAccount.Erasure
    ) async throws -> AccountID {
        try await store.write(.everything) {
            try EraseRemovedUser.run(named: name, erasure, in: $0)
        }
    }

    /// Erases what is to be erased of a removed user, step by step, and returns what went
    /// since the user was removed.
    ///
    /// What stops it leaves the rest to ``Maintenance`` of the server.
    package func erase(
        _ account: AccountID, limits: Limits = Limits()
    ) async throws -> [ErasedKind: Int] {
        let eraser = EraseAccount(limits: limits, storeIdentity: store.identity)
        var isComplete = false
        while !isComplete {
            try Task.checkCancellation()
            let now = time.now()
            isComplete = try await store.writeInSteps(for: nil) {
                try eraser.step(account, at: now, as: $0)
            }
        }
        return try await store.read { try $0.erased(of: account) }
    }
}
