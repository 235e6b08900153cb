// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Makes a link by which a user sets a new password, once.
package enum MakeResetLink {
    /// How long one is good unless the operator chooses otherwise.
    package static let lifetime = Duration.seconds(24 * 3600)

    /// Keeps the hash of a link's secret; links of the user from before end. An unknown name fails,
    /// and a user who is disabled.
    package static func run(
        _ hash: [UInt8], of name: String, lifetime: Duration, at now: Instant,
        in transaction: some AccountReading & SessionWriting
    ) throws {
        guard let known = try transaction.signIn(calledBy: name) else {
            throw OperatorError(.unknown, .user, "There is no user '\(name)'.")
        }
        guard !known.isDisabled else {
            throw OperatorError(.unsuitable, .user, "The user '\(name)' is disabled.")
        }
        for session in try ListSessions.run(of: known.account, at: now, in: transaction)
        where session.origin == .reset {
            try transaction.removeSession(session.id)
        }
        try transaction.putWebToken(
            StoredWebToken(
                account: known.account, expiresAt: now.advanced(by: lifetime),
                session: SessionID(beginningWith: hash, in: known.account.cell), origin: .reset,
                createdAt: now),
            hash: hash)
    }
}
