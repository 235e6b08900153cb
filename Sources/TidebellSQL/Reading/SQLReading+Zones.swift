// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func database(_ key: DatabaseKey) throws -> StoredDatabase? {
        let found = try connection.first(
            StoredDatabase.withKey, key.owner?.rawValue ?? StoredDatabase.noOwner,
            key.container.container,
            key.container.environment, key.scope, read: StoredDatabase.init
        )
        if let found { connection.guesses?.note(found) }
        return found
    }

    package func database(id: DatabaseID) throws -> StoredDatabase? {
        try connection.first(
            StoredDatabase.withID, id, read: StoredDatabase.init
        )
    }

    package func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone] {
        guard let names else {
            return try connection.rows(StoredZone.living, database, read: StoredZone.init)
        }
        let found =
            if let only = names.first, names.count == 1 {
                try connection.rows(StoredZone.named, database, only, read: StoredZone.init)
            } else {
                try connection.rows(
                    StoredZone.namedAmong, SQLList(names), database, read: StoredZone.init)
            }
        connection.guesses?.note(found)
        return found
    }

    package func zoneChanges(
        in database: DatabaseID, after position: Position, limit: Int
    ) throws -> [StoredZone] {
        try connection.rows(
            StoredZone.changes, database, position, limit, read: StoredZone.init
        )
    }

    package func livingZoneCount(in database: DatabaseID) throws -> Int {
        try connection.first(
            "SELECT count(*) FROM zone WHERE database = ? AND deletion IS NULL", database
        ) { Int($0.int(0)) } ?? 0
    }

    package func containers(limit: Int) throws -> [ContainerKey] {
        try connection.rows(
            "SELECT DISTINCT container, environment FROM database ORDER BY 1, 2 LIMIT ?", limit
        ) { ContainerKey(container: $0.text(0), environment: try $0.value(1)) }
    }

    package func databases(
        of container: ContainerKey, after last: DatabaseID?, limit: Int
    ) throws -> [DatabaseID] {
        try connection.rows(
            """
            SELECT id FROM database WHERE container = ? AND environment = ? AND id > ?
            ORDER BY id LIMIT ?
            """,
            container.container, container.environment, last?.rawValue ?? 0, limit
        ) { try $0.value(0) }
    }
}

extension StoredDatabase {
    /// What stands for the owner of a public database.
    package static let noOwner: Int64 = 0

    package static let columns = """
        database.id, database.container, database.environment, database.scope, database.owner,
        database.head, database.floor, database.subscription_kinds,
        database.bytes + \(StoredZone.customBytes), database.records
        """
    fileprivate static let withKey = """
        SELECT \(columns) FROM database
        WHERE owner = ? AND container = ? AND environment = ? AND scope = ?
        """
    fileprivate static let withID = "SELECT \(columns) FROM database WHERE id = ?"

    fileprivate init(_ columns: Columns) throws { try self.init(columns, from: 0) }

    /// How many columns there are.
    package static let columnCount: Int32 = 10

    /// Reads ``columns`` from `first` on.
    package init(_ columns: Columns, from first: Int32) throws {
        let owner = columns.int(first + 4)
        self.init(
            id: try columns.value(first),
            key: DatabaseKey(
                container: ContainerKey(
                    container: columns.text(first + 1), environment: try columns.value(first + 2)
                ),
                scope: try columns.value(first + 3),
                owner: owner == Self.noOwner ? nil : UserID(rawValue: owner)
            ),
            head: try columns.value(first + 5),
            floor: try columns.value(first + 6),
            subscriptionKinds: Set(
                WireSubscription.Kind.allCases.filter { columns.int(first + 7) & $0.bit != 0 }
            ),
            use: StorageUse(
                bytes: columns.int(first + 8), records: Int(columns.int(first + 9)))
        )
    }
}

extension WireSubscription.Kind {
    /// The kind's bit in `database.subscription_kinds`.
    var bit: Int64 {
        switch self {
        case .query: 1
        case .zone: 2
        case .database: 4
        }
    }
}

extension StoredZone {
    /// What ``init(_:)`` reads.
    package static let columns = """
        zone.key, zone.database, zone.name, zone.position, zone.floor, zone.deletion,
        zone.client_change_token, zone.sealed,
        CASE WHEN zone.sealed = 1 THEN (SELECT wrapped FROM zone_key WHERE zone_key.zone = zone.key)
        END,
        zone.sharing, zone.unsettled, zone.indexed
        """
    fileprivate static let living = """
        SELECT \(columns) FROM zone WHERE database = ? AND deletion IS NULL ORDER BY name
        """
    fileprivate static let named =
        "SELECT \(columns) FROM zone WHERE database = ? AND name = ?"
    fileprivate static let namedAmong = """
        SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN zone
        WHERE zone.database = ? AND zone.name = \(SQLList.text("wanted.value"))
        ORDER BY zone.name
        """
    fileprivate static let changes = """
        SELECT \(columns) FROM zone
        WHERE database = ? AND position > ? ORDER BY position LIMIT ?
        """

    /// How many columns there are.
    package static let columnCount: Int32 = 12

    /// Reads a row of ``columns``.
    package init(_ columns: Columns) throws { try self.init(columns, from: 0) }

    /// Reads ``columns`` from `first` on.
    package init(_ columns: Columns, from first: Int32) throws {
        self.init(
            key: try columns.value(first),
            database: try columns.value(first + 1),
            name: columns.text(first + 2),
            position: try columns.value(first + 3),
            floor: try columns.value(first + 4),
            deletion: columns.isNull(first + 5) ? nil : try columns.value(first + 5),
            clientChangeToken: columns.optionalBytes(first + 6),
            fieldKey: !columns.bool(first + 7)
                ? .none
                : columns.optionalBytes(first + 8).map { .wrapped(WrappedKey($0)) } ?? .lost,
            sharing: try columns.value(first + 9), isUnsettled: columns.bool(first + 10),
            isIndexed: columns.bool(first + 11)
        )
    }
}
