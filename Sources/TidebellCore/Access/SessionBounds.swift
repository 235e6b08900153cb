// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// How many sessions an account may have, and which of them end for a new one.
package enum SessionBounds {
    /// The most sessions of an account that are looked at for that, in all its containers.
    static let mostLookedAt = 10_000

    /// Ends sessions of the kind of a new one, in its container, so that there are no more
    /// than the limits say; those go first that were renewed longest ago.
    package static func makeRoom(
        beside token: StoredWebToken, limits: Limits, at now: Instant,
        in transaction: some SessionWriting
    ) throws {
        let limit: Int
        switch token.origin {
        case .page: limit = limits.pagesPerAccount
        case .device: limit = limits.signInsPerAccount
        // The operator says how many.
        case .operator: return
        }
        let sessions = try transaction.sessions(of: token.account, at: now, limit: mostLookedAt)
            .filter { $0.origin == token.origin && $0.container == token.container }
        guard sessions.count > limit else { return }
        let oldest = sessions.filter { $0.id != token.session }.sorted {
            ($0.expiresAt, $0.createdAt) < ($1.expiresAt, $1.createdAt)
        }
        for session in oldest.prefix(sessions.count - limit) {
            try transaction.removeSession(session.id)
        }
    }
}
