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

    /// Returns what each of the databases holds that ``privateUse(of:)`` sums up.
    func uses(of account: AccountID) throws -> [DatabaseID: StorageUse] {
        let uses = try connection.rows(
            """
            SELECT database.bytes + \(StoredZone.customBytes), database.records, database.id
            FROM user CROSS JOIN database ON database.owner = user.id
            WHERE user.account = ?
            """,
            account
        ) { (try $0.value(2, as: DatabaseID.self), StorageUse($0)) }
        // A damaged index may have a row twice.
        return Dictionary(uses) { first, _ in first }
    }

    /// What the private and shared databases of users hold.
    package func use(of owners: Set<UserID>) throws -> StorageUse {
        try connection.first(
            """
            SELECT ifnull(sum(database.bytes + \(StoredZone.customBytes)), 0),
                ifnull(sum(database.records), 0)
            FROM json_each(?) AS wanted CROSS JOIN database ON database.owner = wanted.value
            """,
            SQLList(owners.map(\.rawValue)), read: StorageUse.init
        ) ?? .zero
    }

    package func storageUses() throws -> [NamedStorageUse] {
        let people = try accountUses()
        return try named(people) + containerUses()
    }

    /// What the private and shared databases of accounts hold, with the names of those that there are.
    package func named(_ uses: [AccountID: StorageUse]) throws -> [NamedStorageUse] {
        let names = try accountNames(Set(uses.keys))
        return names.sorted { Array($0.value.utf8).lexicographicallyPrecedes(Array($1.value.utf8)) }
            .compactMap { account, name in
                uses[account].map { NamedStorageUse(.account(name), $0) }
            }
    }

    /// What the private and shared databases of each account hold.
    package func accountUses() throws -> [AccountID: StorageUse] {
        let uses: [(AccountID, StorageUse)] = try connection.rows(
            """
            SELECT sum(database.bytes + \(StoredZone.customBytes)), sum(database.records), user.account
            FROM user JOIN database ON database.owner = user.id GROUP BY user.account
            """
        ) { (try $0.value(2), StorageUse($0)) }
        return Dictionary(uses) { first, _ in first }
    }

    /// What each public database holds.
    package func containerUses() throws -> [NamedStorageUse] {
        try connection.rows(
            """
            SELECT bytes, records, container, environment FROM database
            WHERE owner = \(StoredDatabase.noOwner) ORDER BY container, environment
            """
        ) { columns in
            let key = ContainerKey(
                container: columns.text(2), environment: try columns.value(3))
            return NamedStorageUse(.container(key), StorageUse(columns))
        }
    }
}

extension StorageUse {
    /// Reads a row that begins with bytes and records.
    fileprivate init(_ columns: Columns) {
        self.init(bytes: columns.int(0), records: Int(columns.int(1)))
    }
}
