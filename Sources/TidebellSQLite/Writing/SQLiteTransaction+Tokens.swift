// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func putToken(_ token: StoredToken, _ kind: TokenKind) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT OR REPLACE INTO \(kind.table) (hash, name, created_at, expires_at, used_at)
            VALUES (?, ?, ?, ?, ?)
            """,
            token.hash, token.name, token.createdAt, token.expiresAt, token.usedAt
        )
        guard kind == .api, let container = token.container else { return }
        try connection.run(
            "UPDATE api_token SET container = ?, environment = ? WHERE hash = ?",
            container.container, container.environment, token.hash
        )
    }

    func removeToken(hash: [UInt8], _ kind: TokenKind) throws {
        hasQuietChange = true
        try connection.run("DELETE FROM \(kind.table) WHERE hash = ?", hash)
    }
}
