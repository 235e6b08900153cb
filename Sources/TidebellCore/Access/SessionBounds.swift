// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// How many sessions an account may have, and which of them end for a new one.
package enum SessionBounds {
    /// The most sessions of an account that are looked at for that, in all its containers.
    static let mostLookedAt = 10_000

    /// Ends sessions of the kind of a new one, in its container, so that there are no more
    /// than the limits say: those that would expire first, each with what was begun with it.
    ///
    /// The new session stays, and so do those it was begun with, which would end it too;
    /// where only they are left it fails with `limitExceeded`.
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
        let all = try transaction.sessions(of: token.account, at: now, limit: mostLookedAt)
        let alike = all.filter { $0.origin == token.origin && $0.container == token.container }
        var living = Set(alike.map(\.id))
        guard living.count > limit else { return }
        let kept = ancestry(of: token.session, among: all)
        let children = Dictionary(grouping: all, by: \.parent)
        let ending = alike.filter { !kept.contains($0.id) }.sorted {
            ($0.expiresAt, $0.createdAt) < ($1.expiresAt, $1.createdAt)
        }
        for session in ending where living.count > limit {
            // It may have ended with the one it was begun with.
            guard living.contains(session.id) else { continue }
            try transaction.removeSession(session.id)
            var ended = [session.id]
            while let next = ended.popLast() {
                living.remove(next)
                ended += (children[next] ?? []).map(\.id)
            }
        }
        guard living.count <= limit else { throw WireError.tooManySessions(limit) }
    }

    /// A session, and those it was begun with.
    private static func ancestry(
        of session: SessionID, among all: [StoredSession]
    ) -> Set<SessionID> {
        let parents = Dictionary(all.map { ($0.id, $0.parent) }) { first, _ in first }
        var line: Set = [session]
        var next = parents[session] ?? nil
        while let parent = next, line.insert(parent).inserted { next = parents[parent] ?? nil }
        return line
    }
}

extension WireError {
    fileprivate static func tooManySessions(_ limit: Int) -> WireError {
        badRequest(
            "the account may have \(limit) sessions of this kind, and each of them was begun with "
                + "the one before, down to this one: sign one of them out, which ends those "
                + "after it, or sign in with the password",
            ckCode: CKErrorCode.limitExceeded
        )
    }
}
