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
        guard kind == .api else {
            return try connection.run(
                "UPDATE admin_token SET task = ? WHERE hash = ?", token.task, token.hash)
        }
        try connection.run(
            """
            UPDATE api_token
            SET container = ?, environment = ?, origins = ?, callback = ?, methods = ?
            WHERE hash = ?
            """,
            token.container?.container, token.container?.environment,
            token.signIn.origins?.joined(separator: " "), token.signIn.callback,
            token.signIn.methods.map { $0.map(\.rawValue).sorted().joined(separator: " ") },
            token.hash
        )
    }

    func removeToken(hash: [UInt8], _ kind: TokenKind) throws {
        hasQuietChange = true
        try connection.run("DELETE FROM \(kind.table) WHERE hash = ?", hash)
    }
}
