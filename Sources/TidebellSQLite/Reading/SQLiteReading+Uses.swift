// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What callers take, and how much there is of what they may have a number of.
extension SQLiteReading {
    package func livingZoneCount(in database: DatabaseID) throws -> Int {
        try connection.first(
            "SELECT count(*) FROM zone WHERE database = ? AND deletion IS NULL", database
        ) { Int($0.int(0)) } ?? 0
    }

    package func recordTypeCount(in container: ContainerKey) throws -> Int {
        // From type to type by the index: a type may have many fields.
        try connection.first(
            """
            WITH RECURSIVE types (name) AS (
                SELECT min(record_type) FROM field_type WHERE container = ?1 AND environment = ?2
                UNION ALL
                SELECT (SELECT min(record_type) FROM field_type
                    WHERE container = ?1 AND environment = ?2 AND record_type > types.name)
                FROM types WHERE types.name IS NOT NULL
            ) SELECT count(name) FROM types
            """,
            container.container, container.environment
        ) { Int($0.int(0)) } ?? 0
    }

    package func awaitedUploadCount(of user: UserID, at now: Instant) throws -> Int {
        try connection.first(
            "SELECT count(*) FROM awaited_upload WHERE user = ? AND expires_at > ?", user, now
        ) { Int($0.int(0)) } ?? 0
    }

    package func privateUse(of account: AccountID) throws -> StorageUse {
        try connection.first(
            """
            SELECT ifnull(sum(database.bytes), 0), ifnull(sum(database.records), 0)
            FROM user CROSS JOIN database ON database.owner = user.id
            WHERE user.account = ?
            """,
            account, read: StorageUse.init
        ) ?? .zero
    }

    package func storageUses() throws -> [NamedStorageUse] {
        let people = try connection.rows(
            """
            SELECT sum(database.bytes), sum(database.records), account.name
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

    package func notificationFloor(of user: UserID) throws -> NotificationSequence {
        try connection.first(
            """
            SELECT max(notification_floor,
                ifnull((SELECT notification_floor FROM user WHERE id = ?), 0))
            FROM store WHERE id = 1
            """,
            user
        ) { try $0.value(0) } ?? .start
    }

    package func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID] {
        try connection.rows(
            "SELECT user FROM notification GROUP BY user HAVING count(*) > ? LIMIT ?",
            count, limit
        ) { try $0.value(0) }
    }
}

extension StorageUse {
    /// Reads a row that begins with bytes and records.
    fileprivate init(_ columns: Columns) {
        self.init(bytes: columns.int(0), records: Int(columns.int(1)))
    }
}
