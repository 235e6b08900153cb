// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putToken(_ token: StoredToken, _ kind: TokenKind) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO \(kind.table) (hash, name, created_at, expires_at, used_at)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (hash) DO UPDATE SET name = excluded.name,
                created_at = excluded.created_at, expires_at = excluded.expires_at,
                used_at = excluded.used_at
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
            token.signIn.methods.map(AppSignIn.Method.text),
            token.hash
        )
    }

    package func removeToken(hash: [UInt8], _ kind: TokenKind) throws {
        hasQuietChange = true
        try connection.run("DELETE FROM \(kind.table) WHERE hash = ?", hash)
    }
}
