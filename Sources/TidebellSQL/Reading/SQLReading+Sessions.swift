// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func webToken(hash: WebTokenHash) throws -> StoredWebToken? {
        let found = try connection.first(
            StoredWebToken.withHash, hash.digest, read: StoredWebToken.init)
        if let found { connection.guesses?.note(found, hash: hash) }
        return found
    }

    package func sessions(
        of account: AccountID, at now: Instant, limit: Int
    ) throws -> [StoredSession] {
        try connection.rows(StoredSession.ofAccount, account, now, limit, read: StoredSession.init)
    }

    package func sessions(
        like token: StoredWebToken, at now: Instant, limit: Int
    ) throws -> [StoredSession] {
        try connection.rows(
            StoredSession.like, token.account, now, limit, token.origin,
            token.container?.container, token.container?.environment, read: StoredSession.init
        )
    }

    package func ancestors(of session: SessionID) throws -> Set<SessionID> {
        Set(try connection.rows(StoredSession.ancestors, session) { try $0.value(0) })
    }

    package func end(of session: SessionID, at now: Instant) throws -> Instant? {
        try connection.first(StoredSession.end, session, now) { try $0.optional(0) } ?? nil
    }

    package func listening(
        among listeners: Set<Listener>, at now: Instant
    ) throws -> Set<Listener> {
        var streams: [(DeviceKey, SessionID)] = []
        var couriers: Set<String> = []
        var found: Set<Listener> = []
        for listener in listeners {
            switch listener {
            case .stream(let device, let session): streams.append((device, session))
            // One token serves many streams.
            case .apiToken(let hash):
                if try token(hash: hash, .api)?.isValid(at: now) == true {
                    found.insert(listener)
                }
            case .courier(let token): couriers.insert(token)
            }
        }
        if !streams.isEmpty {
            try connection.each(Listener.streams, now, SQLList(streams)) { columns in
                let session = SessionID(rawValue: columns.text(1))
                found.insert(.stream(try columns.value(0), session))
                return true
            }
        }
        if !couriers.isEmpty {
            try connection.each(Listener.couriers, now, SQLList(couriers)) { columns in
                found.insert(.courier(token: columns.text(0)))
                return true
            }
        }
        return found
    }
}

extension SQLList {
    /// A list of pairs of device and session.
    fileprivate init(_ streams: [(DeviceKey, SessionID)]) {
        self.init(columns: [
            .numbers(streams.map(\.0.rawValue)), .texts(streams.map(\.1.rawValue)),
        ])
    }
}

extension Listener {
    /// The condition that a session lasts.
    static func lasts(_ session: String, at now: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM web_token CROSS JOIN account ON account.id = web_token.account
            WHERE web_token.session = \(session) AND web_token.expires_at > \(now)
                AND account.disabled = 0
        )
        """
    }

    /// The condition that a row of `push_token_device` reaches its device.
    static func mayReceive(at now: String) -> String {
        """
        CASE WHEN push_token_device.session IS NULL THEN NOT EXISTS (
            SELECT 1 FROM user CROSS JOIN account ON account.id = user.account
            WHERE user.id = device.user AND account.disabled = 1
        ) ELSE \(lasts("push_token_device.session", at: now)) END
        """
    }

    fileprivate static let streams = """
        SELECT device.key, wanted.value ->> 1
        FROM json_each(?2) AS wanted CROSS JOIN device ON device.key = wanted.value ->> 0
        WHERE \(lasts("wanted.value ->> 1", at: "?1"))
        """

    fileprivate static let couriers = """
        SELECT DISTINCT push_token_device.token
        FROM json_each(?2) AS wanted
            CROSS JOIN push_token_device ON push_token_device.token = \(SQLList.text("wanted.value"))
            CROSS JOIN device ON device.key = push_token_device.device
        WHERE push_token_device.given_out IS NOT NULL AND \(mayReceive(at: "?1"))
        """
}

extension StoredWebToken {
    fileprivate static let withHash = """
        SELECT account, disabled, expires_at, lifetime, renewed_at, ends_at, session, parent,
            origin, container, environment, web_token.created_at, used_at
        FROM web_token CROSS JOIN account ON account.id = web_token.account WHERE hash = ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            account: try columns.value(0), isDisabled: columns.bool(1),
            expiresAt: try columns.value(2),
            lifetime: columns.isNull(3) ? nil : .milliseconds(columns.int(3)),
            renewedAt: try columns.optional(4), endsAt: try columns.optional(5),
            session: try columns.value(6), parent: try columns.optional(7),
            origin: try columns.value(8), container: try columns.container(9),
            createdAt: try columns.value(11), usedAt: try columns.optional(12)
        )
    }
}

extension StoredSession {
    private static let columns = """
        session, account, origin, container, environment, min(created_at), max(used_at),
            max(expires_at) AS last, parent
        """
    /// What all tokens of a session have in common.
    private static let common = "session, account, origin, container, environment, parent"
    fileprivate static let ofAccount = """
        SELECT \(columns) FROM web_token WHERE account = ?1 GROUP BY \(common)
        HAVING max(expires_at) > ?2
        ORDER BY min(created_at), session LIMIT ?3
        """
    fileprivate static let like = """
        SELECT \(columns) FROM web_token
        WHERE account = ?1 AND origin = ?4 AND container IS ?5 AND environment IS ?6
        GROUP BY \(common) HAVING max(expires_at) > ?2
        ORDER BY last, min(created_at), session LIMIT ?3
        """
    fileprivate static let ancestors = """
        WITH RECURSIVE line (id) AS (
            SELECT parent FROM web_token WHERE session = ?1 AND parent IS NOT NULL UNION
            SELECT web_token.parent FROM line JOIN web_token ON web_token.session = line.id
            WHERE web_token.parent IS NOT NULL
        ) SELECT id FROM line
        """
    fileprivate static let end = """
        SELECT max(expires_at) FROM web_token CROSS JOIN account ON account.id = web_token.account
        WHERE session = ? AND expires_at > ? AND disabled = 0
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: try columns.value(0), account: try columns.value(1),
            origin: try columns.value(2), container: try columns.container(3),
            createdAt: try columns.value(5), usedAt: try columns.optional(6),
            expiresAt: try columns.value(7), parent: try columns.optional(8)
        )
    }
}
