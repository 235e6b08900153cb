// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// How many sessions an account may have, and which of them end for a new one.
package enum SessionBounds {
    /// The most sessions that one new one makes room among; stores from before there were
    /// bounds may have more, which the next ones end.
    static let mostLookedAt = 10_000

    /// Ends sessions of the kind of a new one, in its container, so that there are no more
    /// than the limits allow: those that would expire first, each with what was begun with it.
    ///
    /// The new session stays, and so do those it was begun with, which would end it too;
    /// where only they are left it fails with `limitExceeded`.
    package static func makeRoom(
        beside token: StoredWebToken, limits: Limits, at now: Instant,
        in transaction: some SessionWriting
    ) throws {
        let (limit, bound): (Int, WireError.Bound)
        switch token.origin {
        case .page: (limit, bound) = (limits.pagesPerAccount, .pagesPerAccount)
        case .device: (limit, bound) = (limits.signInsPerAccount, .signInsPerAccount)
        // The operator configures how many.
        case .operator, .reset: return
        }
        let alike = try transaction.sessions(like: token, at: now, limit: mostLookedAt + limit)
        var living = Set(alike.map(\.id))
        guard living.count > limit else { return }
        let kept = try transaction.ancestors(of: token.session).union([token.session])
        for session in alike where living.count > limit && !kept.contains(session.id) {
            // It may have ended with the one it was begun with.
            guard living.contains(session.id) else { continue }
            living.subtract(try transaction.removeSessions(begunWith: session.id))
        }
        guard living.count <= limit else { throw WireError.tooManySessions(limit, bound) }
    }
}

extension WireError {
    fileprivate static func tooManySessions(_ limit: Int, _ bound: Bound) -> WireError {
        badRequest(
            "the account may have \(limit) sessions of this kind (\(bound.rawValue)), and each of them was begun with "
                + "the one before, down to this one: sign one of them out, which ends those "
                + "after it, or sign in with the password",
            ckCode: CKErrorCode.limitExceeded
        ).naming(bound)
    }
}
