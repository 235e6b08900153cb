// SPDX-License-Identifier: Apache-2.0

/// Ends sessions of a user.
package enum EndSessions {
    /// Ends a session, with those that were begun with it, or all of the user; returns how
    /// many ended.
    ///
    /// - Parameter id: The beginning of a session's ID is enough where it names one; an
    ///   unknown or ambiguous one fails. Nil for all.
    package static func run(
        of name: String, session id: String?, at now: Instant,
        in transaction: some AccountReading & SessionWriting
    ) throws -> Int {
        let account = try transaction.user(named: name)
        guard let id else {
            return try transaction.endTokens(
                .account(account, includingOperators: true), at: now
            )
        }
        let known = try ListSessions.run(of: account, at: now, in: transaction)
        let named = known.filter { TokenID.text(id, names: $0.id.rawValue) }
        guard let session = named.first, named.count == 1 else {
            throw OperatorError(
                named.isEmpty ? .unknown : .ambiguous, .session,
                named.isEmpty
                    ? "'\(name)' has no session '\(id)'."
                    : "'\(id)' names \(named.count) sessions, give more digits.",
                remedy: .listSessions(user: name)
            )
        }
        return try transaction.endTokens(.session(session.id), at: now)
    }
}
