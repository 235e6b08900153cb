// SPDX-License-Identifier: Apache-2.0
import TidebellCore

// What removed users leave.
extension Accounts {
    /// Returns the users who were removed and whose data is still there.
    package func removed() async throws -> [RemovedAccount] {
        try await store.read { try $0.removedAccounts(limit: Self.listLength) }
    }

    /// Returns names of those users who were erased and for whom an older version stored
    /// something afterwards; ``beginErasing(_:_:)`` knows them.
    package func lostUsers() async throws -> [String] {
        try await store.read { try $0.lostUsers(limit: Self.listLength) }.map {
            "\(Self.lostPrefix)\($0.rawValue)"
        }
    }

    /// What the names of ``lostUsers()`` begin with.
    private static let lostPrefix = "lost-"

    /// The account of one of ``lostUsers()`` after it was adopted; nil where the name is none
    /// of theirs.
    private static func lostAccount(
        _ name: String, in reader: some UserReading
    ) throws -> AccountID? {
        guard name.hasPrefix(lostPrefix), let number = Int64(name.dropFirst(lostPrefix.count))
        else { return nil }
        let user = UserID(rawValue: number)
        return try reader.users([user])[user]?.account
    }

    /// Whether anything is kept of a user who was removed.
    package func hasData(of account: AccountID) async throws -> Bool {
        try await store.read { try $0.removedAccount(account) } != nil
    }

    /// Notes that the data of a removed user is to be erased, and returns the account.
    ///
    /// - Parameter name: The name the user had, or the number of the account, which tells
    ///   several of one name apart, or one of ``lostUsers()``. An unknown or ambiguous one
    ///   fails with ``OperatorError``.
    package func beginErasing(
        _ name: String, _ erasure: RemovedAccount.Erasure
    ) async throws -> AccountID {
        let wanted = UserName.canonical(name) ?? name
        return try await store.write { transaction in
            try transaction.adoptLostDatabases(limit: Self.listLength)
            let removed = try transaction.removedAccounts(limit: Self.listLength)
            let lost = try Self.lostAccount(name, in: transaction)
            let named = removed.filter {
                $0.name == wanted || "\($0.account.rawValue)" == name || $0.account == lost
            }
            if named.isEmpty, try transaction.account(calledBy: name) != nil {
                throw OperatorError(
                    "The user '\(name)' is not removed: remove them first, with tidebell user "
                        + "remove \(name) --erase-data."
                )
            }
            guard let one = named.first, named.count == 1 else {
                throw OperatorError(
                    named.isEmpty
                        ? "There is no data of a removed user '\(name)'"
                        : "\(named.count) removed users were called '\(name)', give one's number",
                    see: "tidebell user list --removed"
                )
            }
            try transaction.beginErasing(one.account, erasure)
            return one.account
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
            isComplete = try await store.write { try eraser.step(account, at: now, in: $0) }
        }
        return try await store.read { try $0.erased(of: account) }
    }
}
