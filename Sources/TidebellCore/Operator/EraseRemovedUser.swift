// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Has the data of a removed user erased, by EraseAccount.
package enum EraseRemovedUser {
    /// What the names begin with of users who were erased and for whom an older version stored
    /// something afterwards.
    private static let lostPrefix = "lost-"

    /// Notes that the data is to be erased, and returns the account.
    ///
    /// - Parameter name: The name the user had, or the number of the account, which distinguishes
    ///   several of one name apart, or one of lostUsers(in:). An unknown or ambiguous one
    ///   fails.
    package static func run(
        named name: String, _ erasure: RemovedAccount.Erasure,
        in transaction: some AccountReading & ErasureWriting & UserReading
    ) throws -> AccountID {
        let wanted = UserName.canonical(name) ?? name
        try transaction.adoptLostDatabases(limit: ListRemovedUsers.mostListed)
        let removed = try ListRemovedUsers.run(in: transaction)
        let lost = try lostAccount(name, in: transaction)
        let named = removed.filter {
            $0.name == wanted || "\($0.account.rawValue)" == name || $0.account == lost
        }
        if named.isEmpty, try transaction.account(calledBy: name) != nil {
            throw OperatorError(
                .unsuitable, .user,
                "The user '\(name)' is not removed: remove them first.",
                remedy: .remove(user: name)
            )
        }
        guard let one = named.first, named.count == 1 else {
            throw OperatorError(
                named.isEmpty ? .unknown : .ambiguous, .user,
                named.isEmpty
                    ? "There is no data of a removed user named '\(name)'."
                    : "\(named.count) removed users were called '\(name)', give one's number.",
                remedy: .listRemovedUsers
            )
        }
        try transaction.beginErasing(one.account, erasure)
        return one.account
    }

    /// Returns names of those users who were erased and for whom an older version stored
    /// something afterwards.
    package static func lostUsers(in reader: some ErasureReading) throws -> [String] {
        try reader.lostUsers(limit: ListRemovedUsers.mostListed).map {
            "\(lostPrefix)\($0.rawValue)"
        }
    }

    /// The account of one of them after it was adopted; nil where the name is none of theirs.
    private static func lostAccount(
        _ name: String, in reader: some UserReading
    ) throws -> AccountID? {
        guard name.hasPrefix(lostPrefix), let number = Int64(name.dropFirst(lostPrefix.count))
        else { return nil }
        let user = UserID(rawValue: number)
        return try reader.users([user])[user]?.account
    }
}
