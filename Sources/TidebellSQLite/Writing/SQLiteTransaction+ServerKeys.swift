// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func putServerKey(_ key: StoredServerKey) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT OR REPLACE INTO server_key (
                id, name, container, environment, account, token_hash, public_key, created_at
            )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            key.id, key.name, key.container.container, key.container.environment, key.account,
            key.tokenHash, key.publicKey, key.createdAt
        )
    }
}
