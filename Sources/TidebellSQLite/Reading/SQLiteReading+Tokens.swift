// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func webToken(hash: [UInt8]) throws -> StoredWebToken? {
        try connection.first(StoredWebToken.withHash, hash, read: StoredWebToken.init)
    }

    package func sessions(
        of account: AccountID, at now: Instant, limit: Int
    ) throws -> [StoredSession] {
        try connection.rows(StoredSession.ofAccount, account, now, limit, read: StoredSession.init)
    }

    package func end(of session: SessionID, at now: Instant) throws -> Instant? {
        try connection.first(StoredSession.end, session, now) { try $0.optional(0) } ?? nil
    }

    package func hasAPIToken(
        hash: [UInt8], for container: ContainerKey, at now: Instant
    ) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM api_token
            WHERE hash = ? AND (container IS NULL OR container = ? AND environment = ?)
                AND (expires_at IS NULL OR expires_at > ?)
            """,
            hash, container.container, container.environment, now
        ) { $0.bool(0) } ?? false
    }

    package func hasAdminToken(hash: [UInt8], at now: Instant) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM admin_token
            WHERE hash = ? AND (expires_at IS NULL OR expires_at > ?)
            """,
            hash, now
        ) { $0.bool(0) } ?? false
    }

    package func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken] {
        try connection.rows(kind.list, limit, read: StoredToken.init)
    }
}

extension TokenKind {
    /// The table that holds the tokens.
    var table: String {
        switch self {
        case .api: "api_token"
        case .management: "admin_token"
        }
    }

    fileprivate var list: String {
        let place =
            switch self {
            case .api: "container, environment"
            case .management: "NULL, NULL"
            }
        return """
            SELECT hash, name, \(place), created_at, expires_at, used_at
            FROM \(table) ORDER BY created_at, hash LIMIT ?
            """
    }
}

extension Columns {
    /// Returns an identifier or a moment, or nil for NULL.
    func optional<Value: RawRepresentable>(
        _ column: Int32, as type: Value.Type = Value.self
    ) throws -> Value? where Value.RawValue: Readable {
        isNull(column) ? nil : try value(column)
    }

    /// Returns a container that stands in two columns, or nil for NULL.
    fileprivate func container(_ column: Int32) throws -> ContainerKey? {
        guard let name = optionalText(column) else { return nil }
        return ContainerKey(container: name, environment: try value(column + 1))
    }
}

extension StoredToken {
    fileprivate init(_ columns: Columns) throws {
        self.init(
            hash: columns.bytes(0), name: columns.text(1), container: try columns.container(2),
            createdAt: try columns.value(4), expiresAt: try columns.optional(5),
            usedAt: try columns.optional(6)
        )
    }
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
    fileprivate static let ofAccount = """
        SELECT session, account, origin, container, environment, min(created_at), max(used_at),
            max(expires_at) AS last
        FROM web_token WHERE account = ? GROUP BY session HAVING last > ?
        ORDER BY min(created_at), session LIMIT ?
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
            expiresAt: try columns.value(7)
        )
    }
}
