// SPDX-License-Identifier: Apache-2.0

/// Lists users.
package enum ListUsers {
    /// Returns all users, by name, and who of them is disabled.
    package static func run(in reader: some AccountReading) throws -> [NamedAccount] {
        try reader.accounts()
    }
}

/// Lists users who were removed and whose data is still there.
package enum ListRemovedUsers {
    /// The most removed users that are listed and looked at.
    package static let mostListed = 10_000

    /// Returns them, with how much of their data is to be erased.
    package static func run(in reader: some ErasureReading) throws -> [RemovedAccount] {
        try reader.removedAccounts(limit: mostListed)
    }
}
