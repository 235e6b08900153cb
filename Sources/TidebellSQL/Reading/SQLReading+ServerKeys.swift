// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func serverKey(_ id: String) throws -> StoredServerKey? {
        try connection.first(
            "SELECT \(StoredServerKey.columns) FROM server_key WHERE id = ?", id,
            read: StoredServerKey.init
        )
    }

    package func serverKeys(limit: Int) throws -> [StoredServerKey] {
        try connection.rows(
            "SELECT \(StoredServerKey.columns) FROM server_key ORDER BY created_at, id LIMIT ?",
            limit, read: StoredServerKey.init
        )
    }
}

extension StoredServerKey {
    fileprivate static let columns =
        "id, name, container, environment, account, token_hash, public_key, created_at"

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: columns.text(0), name: columns.text(1),
            container: ContainerKey(
                container: columns.text(2), environment: try columns.value(3)
            ),
            account: try columns.value(4), tokenHash: columns.bytes(5),
            publicKey: columns.bytes(6), createdAt: try columns.value(7)
        )
    }
}
