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
        var counted = all.filter { $0.origin == token.origin && $0.container == token.container }
        guard counted.count > limit else { return }
        let parents = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.parent) })
        func line(of session: SessionID) -> Set<SessionID> {
            var line: Set = [session]
            var next = parents[session] ?? nil
            while let parent = next, line.insert(parent).inserted { next = parents[parent] ?? nil }
            return line
        }
        let kept = line(of: token.session)
        let ending = counted.filter { !kept.contains($0.id) }.sorted {
            ($0.expiresAt, $0.createdAt) < ($1.expiresAt, $1.createdAt)
        }
        for session in ending where counted.count > limit {
            // It may have ended with the one it was begun with.
            guard counted.contains(where: { $0.id == session.id }) else { continue }
            try transaction.removeSession(session.id)
            counted.removeAll { line(of: $0.id).contains(session.id) }
        }
        guard counted.count <= limit else { throw WireError.tooManySessions(limit) }
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
