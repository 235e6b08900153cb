// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func token(hash: [UInt8], _ kind: TokenKind) throws -> StoredToken? {
        try connection.first(
            "SELECT \(kind.columns) FROM \(kind.table) WHERE hash = ?", hash,
            read: StoredToken.init
        )
    }

    package func tokens(_ kind: TokenKind, limit: Int) throws -> [StoredToken] {
        try connection.rows(
            "SELECT \(kind.columns) FROM \(kind.table) ORDER BY created_at, hash LIMIT ?", limit,
            read: StoredToken.init
        )
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

    fileprivate var columns: String {
        let container =
            switch self {
            case .api: "container, environment"
            case .management: "NULL, NULL"
            }
        let signIn =
            switch self {
            case .api: "origins, callback, methods"
            case .management: "NULL, NULL, NULL"
            }
        let task =
            switch self {
            case .api: "NULL"
            case .management: "task"
            }
        return "hash, name, \(container), created_at, expires_at, used_at, \(signIn), \(task)"
    }
}

extension StoredToken {
    fileprivate init(_ columns: Columns) throws {
        self.init(
            hash: columns.bytes(0), name: columns.text(1), container: try columns.container(2),
            createdAt: try columns.value(4), expiresAt: try columns.optional(5),
            usedAt: try columns.optional(6),
            signIn: AppSignIn(
                origins: columns.optionalText(7)?.split(separator: " ").map(String.init),
                callback: columns.optionalText(8),
                methods: columns.optionalText(9).map(AppSignIn.Method.all)),
            // A task that is not known fails: the token would be good for everything.
            task: try columns.optional(10)
        )
    }
}
