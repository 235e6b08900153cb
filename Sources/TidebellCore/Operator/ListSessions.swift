// SPDX-License-Identifier: Apache-2.0

/// Lists the sessions of a user.
package enum ListSessions {
    /// The most sessions that are listed and looked at.
    package static let mostListed = 10_000

    /// Returns the sessions that are valid now, oldest first; an unknown name fails.
    package static func run(
        of name: String, at now: Instant, in reader: some AccountReading & SessionReading
    ) throws -> [StoredSession] {
        try run(of: try reader.user(named: name), at: now, in: reader)
    }

    /// Returns the same of an account.
    static func run(
        of account: AccountID, at now: Instant, in reader: some SessionReading
    ) throws -> [StoredSession] {
        try reader.sessions(of: account, at: now, limit: mostListed)
    }
}
