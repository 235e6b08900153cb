// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension StoredZone {
    /// Counts the custom zones of the row of `database` that live.
    package static let customCount = """
        SELECT count(*) FROM zone WHERE zone.database = database.id AND zone.deletion IS NULL
            AND zone.name <> '\(ZoneID.defaultName)'
        """

    /// What the custom zones of the row of `database` take: nothing where an older version
    /// made them, until the next one is created.
    static let customBytes = "\(overhead) * ifnull(database.zones, 0)"
}

extension SQLTransaction {
    package func makeDatabase(_ key: DatabaseKey) throws -> StoredDatabase {
        if let database = try database(key) { return database }
        let head = try startOfLife()
        try connection.run(
            """
            INSERT INTO database
                (container, environment, scope, owner, head, floor, subscription_kinds, zones)
            VALUES (?, ?, ?, ?, ?, 0, 0, 0)
            """,
            key.container.container, key.container.environment, key.scope,
            key.owner?.rawValue ?? StoredDatabase.noOwner, head
        )
        let id = DatabaseID(rawValue: connection.lastInsertedID)
        if head != .start { latestChange = LatestChange(database: id, position: head) }
        if key.scope.hasDefaultZone { try insertZone(ZoneID.defaultName, at: .start, in: id) }
        return StoredDatabase(id: id, key: key, head: head, subscriptionKinds: [])
    }

    package func advance(
        _ database: DatabaseID, by count: Int, at now: Instant, adding change: StorageUse
    ) throws -> Position {
        precondition(count >= 0, "a database's history only grows")
        precondition(count > 0 || change == .zero, "what changes has its position in the history")
        // Two statements, because RETURNING costs more than the second.
        let head: Position? =
            try connection.memory?.head(of: database)
            ?? connection.first("SELECT head FROM database WHERE id = ?", database) {
                try $0.value(0)
            }
        guard let head else { throw missing("database \(database.rawValue)") }
        let first = max(head.advanced(by: 1), Position(rawValue: now.rawValue))
        guard count > 0 else { return first }
        let last = first.advanced(by: count - 1)
        try connection.remembering {
            try connection.run(
                """
                UPDATE database SET head = ?, bytes = bytes + ?, records = records + ? WHERE id = ?
                """,
                last, change.bytes, change.records, database
            )
        }
        connection.memory?.noteAdvance(of: database, to: last, adding: change)
        latestChange = LatestChange(database: database, position: last)
        return first
    }

    package func createZones(
        _ zones: [(name: String, position: Position)], in database: DatabaseID
    ) throws -> [StoredZone] {
        try zones.map { zone in
            try connection.run(
                "DELETE FROM zone WHERE database = ? AND name = ? AND deletion IS NOT NULL",
                database, zone.name
            )
            let created = try insertZone(zone.name, at: zone.position, in: database)
            if zone.name != ZoneID.defaultName { try countNewZone(in: database) }
            return created
        }
    }

    package func deleteZones(
        _ zones: [(key: ZoneKey, position: Position)],
        reason: ZoneDeletionReason,
        at now: Instant
    ) throws {
        for zone in zones {
            try connection.run(
                """
                UPDATE database
                SET bytes = database.bytes - zone.bytes, records = database.records - zone.records,
                    zones = database.zones - CASE
                        WHEN zone.deletion IS NULL AND zone.name <> '\(ZoneID.defaultName)' THEN 1
                        ELSE 0 END
                FROM zone WHERE zone.key = ? AND database.id = zone.database
                """,
                zone.key
            )
            try removeFieldKey(of: zone.key)
            try connection.run(
                """
                UPDATE zone
                SET position = ?, deletion = ?, deleted_at = ?, client_change_token = NULL,
                    sealed = 0, bytes = 0, records = 0, sharing = 0
                WHERE key = ?
                """,
                zone.position, reason, now, zone.key
            )
            try removeRowsSoon(of: zone.key, at: now)
        }
    }

    package func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?, adding change: StorageUse
    ) throws {
        try connection.remembering {
            guard let clientChangeToken else {
                return try connection.run(
                    """
                    UPDATE zone SET position = ?, bytes = bytes + ?, records = records + ?
                    WHERE key = ?
                    """,
                    position, change.bytes, change.records, zone
                )
            }
            try connection.run(
                """
                UPDATE zone SET position = ?, client_change_token = ?, bytes = bytes + ?,
                    records = records + ?
                WHERE key = ?
                """,
                position, clientChangeToken, change.bytes, change.records, zone
            )
        }
        connection.memory?.noteTouch(
            of: zone, at: position, clientChangeToken: clientChangeToken)
    }

    package func expireTokens(of database: DatabaseID, before position: Position) throws {
        try connection.run(
            "UPDATE database SET floor = max(floor, ?) WHERE id = ?", position, database)
    }

    /// Counts a custom zone that was created; with those of an older version, which did not
    /// count them.
    private func countNewZone(in database: DatabaseID) throws {
        try connection.run(
            "UPDATE database SET zones = ifnull(zones + 1, (\(StoredZone.customCount))) WHERE id = ?",
            database
        )
    }

    @discardableResult
    private func insertZone(
        _ name: String, at position: Position, in database: DatabaseID
    ) throws -> StoredZone {
        try connection.run(
            "INSERT INTO zone (database, name, position, floor) VALUES (?, ?, ?, 0)",
            database, name, position
        )
        return StoredZone(
            key: ZoneKey(rawValue: connection.lastInsertedID), database: database, name: name,
            position: position
        )
    }
}
