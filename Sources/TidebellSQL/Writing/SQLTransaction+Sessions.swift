// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putWebToken(_ token: StoredWebToken, hash: [UInt8]) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO web_token
                (hash, account, expires_at, lifetime, renewed_at, ends_at, session, parent, origin,
                container, environment, created_at, used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (hash) DO UPDATE SET account = excluded.account,
                expires_at = excluded.expires_at, lifetime = excluded.lifetime,
                renewed_at = excluded.renewed_at, ends_at = excluded.ends_at,
                session = excluded.session, parent = excluded.parent, origin = excluded.origin,
                container = excluded.container, environment = excluded.environment,
                created_at = excluded.created_at, used_at = excluded.used_at
            """,
            hash, token.account, token.expiresAt,
            token.lifetime.map { Instant(rawValue: 0).advanced(by: $0) }, token.renewedAt,
            token.endsAt, token.session, token.parent, token.origin, token.container?.container,
            token.container?.environment, token.createdAt, token.usedAt
        )
    }

    package func markWebTokenRenewed(hash: WebTokenHash, at now: Instant) throws {
        try connection.run("UPDATE web_token SET renewed_at = ? WHERE hash = ?", now, hash.digest)
    }

    package func noteUse(of tokens: [UsedToken: Instant]) throws {
        let rows = tokens.map { token, moment in
            switch token {
            case .web(let hash): (table: "web_token", hash: hash.digest, moment)
            case .kind(let kind, let hash): (table: kind.table, hash: hash, moment)
            }
        }
        // In one order: who notes the same at the same time waits for no row of those that wait for it.
        for (table, hash, moment) in rows.sorted(by: {
            $0.table == $1.table
                ? $0.hash.lexicographicallyPrecedes($1.hash) : $0.table < $1.table
        }) {
            try noteUse(of: hash, in: table, at: moment)
        }
    }

    package func endTokens(_ tokens: EndedTokens, at now: Instant) throws -> Int {
        try ending(tokens, at: now).count
    }

    /// The same; returns the sessions, too, of which tokens ended.
    package func ending(
        _ tokens: EndedTokens, at now: Instant
    ) throws -> (count: Int, sessions: Set<SessionID>) {
        let (which, values) = Self.condition(of: tokens)
        let end = WebTokenRules.end(ofTokensEndedAt: now)
        var counted: Set<SessionID> = []
        try connection.step(
            "SELECT session FROM web_token WHERE \(which) AND expires_at > ?\(values.count + 1)",
            values + [now]
        ) { columns in
            counted.insert(SessionID(rawValue: columns.text(0)))
            return true
        }
        // Those, too, that expired so recently that they are still good by a clock that is behind.
        var ended: Set<SessionID> = []
        try connection.step(
            """
            UPDATE web_token SET expires_at = ?\(values.count + 1), ends_at = ?\(values.count + 1)
            WHERE \(which) AND expires_at > ?\(values.count + 1) RETURNING session
            """,
            values + [end]
        ) { columns in
            ended.insert(SessionID(rawValue: columns.text(0)))
            return true
        }
        try endAccess(of: ended)
        return (counted.count, ended)
    }

    /// The condition that a web token is among those that end, and its parameters.
    private static func condition(of tokens: EndedTokens) -> (sql: String, values: [any Bindable]) {
        switch tokens {
        case .session(let session): ("session IN (\(withChildren))", [session])
        case .account(let account, let includingOperators):
            (
                "account = ?1 AND (?2 = 1 OR origin <> 'operator')",
                [account, includingOperators]
            )
        }
    }

    package func removeSessions(begunWith session: SessionID) throws -> Set<SessionID> {
        let ended = Set(
            try connection.rows(
                "DELETE FROM web_token WHERE session IN (\(Self.withChildren)) RETURNING session",
                session
            ) { SessionID(rawValue: $0.text(0)) })
        try endAccess(of: ended)
        return ended
    }

    /// Has listeners of sessions that ended looked at, and forgets the uploads that were
    /// asked for in them: their URLs carry no token that could have ended.
    private func endAccess(of sessions: Set<SessionID>) throws {
        guard !sessions.isEmpty else { return }
        hasEndedAccess = true
        try removeAwaitedUploads(ofSessions: sessions)
    }

    /// Forgets the uploads that were asked for in sessions.
    package func removeAwaitedUploads(ofSessions sessions: Set<SessionID>) throws {
        guard !sessions.isEmpty else { return }
        try connection.run(
            """
            DELETE FROM awaited_upload
            WHERE session IN (SELECT wanted.value FROM json_each(?) AS wanted)
            """,
            SQLList(Set(sessions.map(\.rawValue)))
        )
    }

    package func removeWebTokens(
        expiredBefore moment: Instant, ofPagesBefore pageMoment: Instant, limit: Int
    ) throws -> Int {
        let pages = try connection.rows(
            """
            DELETE FROM web_token WHERE hash IN (
                SELECT hash FROM web_token WHERE expires_at < ? AND origin = 'page'
                ORDER BY expires_at LIMIT ?
            ) RETURNING expires_at
            """,
            pageMoment, limit
        ) { $0.int(0) }
        let others = try connection.rows(
            """
            DELETE FROM web_token WHERE hash IN (
                SELECT hash FROM web_token WHERE expires_at < ? ORDER BY expires_at LIMIT ?
            ) RETURNING expires_at
            """,
            moment, limit
        ) { $0.int(0) }
        return pages.count + others.count
    }

    private func noteUse(of hash: [UInt8], in table: String, at moment: Instant) throws {
        try connection.run(
            """
            UPDATE \(table) SET used_at = ?2
            WHERE hash = ?1 AND (used_at IS NULL OR used_at < ?2)
            """,
            hash, moment
        )
    }

    /// A session and those that were begun with it, as a query; its parameter is the
    /// first.
    private static let withChildren = """
        WITH RECURSIVE ended (id) AS (
            SELECT ?1 UNION
            SELECT web_token.session FROM ended JOIN web_token ON web_token.parent = ended.id
        ) SELECT id FROM ended
        """
}
