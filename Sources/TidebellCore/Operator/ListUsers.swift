// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Lists users.
package enum ListUsers {
    /// Returns all users, by name, and who of them is disabled; the accounts of server-to-server
    /// keys are none.
    package static func run(
        in reader: some AccountReading & ServerKeyReading
    ) throws -> [NamedAccount] {
        let keys = Set(
            try reader.serverKeys(limit: ListServerKeys.mostListed).map(\.account))
        return try reader.accounts().filter { !keys.contains($0.account) }
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
