// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putServerKey(_ key: StoredServerKey) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO server_key (
                id, name, container, environment, account, token_hash, public_key, created_at
            )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET name = excluded.name,
                container = excluded.container, environment = excluded.environment,
                account = excluded.account, token_hash = excluded.token_hash,
                public_key = excluded.public_key, created_at = excluded.created_at
            """,
            key.id, key.name, key.container.container, key.container.environment, key.account,
            key.tokenHash, key.publicKey, key.createdAt
        )
    }
}
