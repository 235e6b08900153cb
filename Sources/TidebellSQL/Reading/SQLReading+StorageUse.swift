// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func privateUse(of account: AccountID) throws -> StorageUse {
        try connection.first(
            """
            SELECT ifnull(sum(database.bytes + \(StoredZone.customBytes)), 0),
                ifnull(sum(database.records), 0)
            FROM user CROSS JOIN database ON database.owner = user.id
            WHERE user.account = ?
            """,
            account, read: StorageUse.init
        ) ?? .zero
    }

    /// Returns the databases that ``privateUse(of:)`` sums up.
    func databases(of account: AccountID) throws -> Set<DatabaseID> {
        Set(
            try connection.rows(
                """
                SELECT database.id FROM user CROSS JOIN database ON database.owner = user.id
                WHERE user.account = ?
                """,
                account
            ) { try $0.value(0) })
    }

    package func storageUses() throws -> [NamedStorageUse] {
        let people = try connection.rows(
            """
            SELECT sum(database.bytes + \(StoredZone.customBytes)), sum(database.records), account.name
            FROM account JOIN user ON user.account = account.id
                JOIN database ON database.owner = user.id
            GROUP BY account.id ORDER BY account.name
            """
        ) { NamedStorageUse(.account($0.text(2)), StorageUse($0)) }
        let containers = try connection.rows(
            """
            SELECT bytes, records, container, environment FROM database
            WHERE owner = \(StoredDatabase.noOwner) ORDER BY container, environment
            """
        ) { columns in
            let key = ContainerKey(
                container: columns.text(2), environment: try columns.value(3))
            return NamedStorageUse(.container(key), StorageUse(columns))
        }
        return people + containers
    }
}

extension StorageUse {
    /// Reads a row that begins with bytes and records.
    fileprivate init(_ columns: Columns) {
        self.init(bytes: columns.int(0), records: Int(columns.int(1)))
    }
}
