// SPDX-License-Identifier: Apache-2.0

/// An account that was removed and whose data is still there, all or some of it.
package struct RemovedAccount: Sendable, Hashable {
    /// What is to become of the data.
    package enum Erasure: Int, Sendable, Hashable {
        /// It is kept until the operator removes it.
        case none = 0
        /// All goes but the records that the person made in public databases.
        case personal = 1
        /// Those go too.
        case everything = 2
    }

    package var account: AccountID
    /// The name that the account had; nil where that was not written down.
    package var name: String?
    /// When it was removed; zero likewise.
    package var removedAt: Instant
    package var erasure: Erasure
    /// How far public records were looked through, for the user who is erased now.
    package var position: Position

    /// Creates a row.
    package init(
        account: AccountID, name: String?, removedAt: Instant, erasure: Erasure = .none,
        position: Position = .start
    ) {
        self.account = account
        self.name = name
        self.removedAt = removedAt
        self.erasure = erasure
        self.position = position
    }
}

/// What is counted when a person's data is erased; raw values are printed.
package enum ErasedKind: String, Sendable, Hashable, CaseIterable {
    case records
    case zones
    case files = "files held"
    case subscriptions
    case devices
    case notifications
    case answers = "kept answers"
    case permissions
    case explanations
    case publicRecords = "public records"
    /// Too many records of others would have gone with them.
    case keptPublicRecords = "public records that could not go"
    case users
}
