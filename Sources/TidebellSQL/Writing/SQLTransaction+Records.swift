// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putRecords(_ records: [StoredRecord], in zone: ZoneKey) throws {
        try connection.remembering {
            for record in records {
                let changer = record.storedChanger
                try connection.run(
                    Self.putRecord, zone, record.position, record.name, record.type,
                    record.created.timestamp, record.created.userRecordName,
                    record.created.deviceID, record.modified.timestamp, changer.user,
                    changer.device, record.parent, record.isDeleted, record.size,
                    record.fields.json, FieldChecksum.of(record)
                )
            }
        }
    }

    /// A record moves to the end of its zone's history when it changes. Of two
    /// records at one position the second fails, where REPLACE would have
    /// silently removed the first.
    private static let putRecord = """
        INSERT INTO record (zone, position, name, type, created_at, created_by,
            created_device, modified_at, modified_by, modified_device, parent, deleted, size,
            fields, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (zone, name) DO UPDATE SET
            position = excluded.position, type = excluded.type,
            created_at = excluded.created_at, created_by = excluded.created_by,
            created_device = excluded.created_device, modified_at = excluded.modified_at,
            modified_by = excluded.modified_by, modified_device = excluded.modified_device,
            parent = excluded.parent, deleted = excluded.deleted, size = excluded.size,
            fields = excluded.fields, checksum = excluded.checksum
        """

    package func putReferences(
        _ references: [StoredReference], from sources: Set<String>, in zone: ZoneKey
    ) throws {
        for source in sources {
            try connection.run(
                "DELETE FROM reference WHERE zone = ? AND source = ?", zone, source
            )
        }
        for reference in references {
            try connection.run(
                """
                INSERT INTO reference (zone, source, target, kind) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                zone, reference.source, reference.target, reference.kind
            )
        }
    }

    package func removeTombstones(modifiedBefore moment: Instant, limit: Int) throws -> Int {
        let tombstones = try removeRecordTombstones(before: moment, limit: limit)
        let traces = try removeZoneTraces(before: moment, limit: limit - tombstones)
        return try tombstones + traces
            + removeSharedZoneTraces(before: moment, limit: limit - tombstones - traces)
    }

    private func removeRecordTombstones(before moment: Instant, limit: Int) throws -> Int {
        let tombstones = try connection.rows(
            """
            SELECT zone, position FROM record WHERE deleted = 1 AND modified_at < ?
            ORDER BY modified_at LIMIT ?
            """,
            moment, limit
        ) { columns -> (zone: ZoneKey, position: Position) in
            (try columns.value(0), try columns.value(1))
        }
        var floors: [ZoneKey: Position] = [:]
        for (zone, position) in tombstones {
            let rows = try connection.rows(
                """
                DELETE FROM shared_record WHERE zone = ?1 AND name =
                    (SELECT name FROM record WHERE zone = ?1 AND position = ?2)
                RETURNING share, position
                """,
                zone, position
            ) { (share: $0.text(0), position: try $0.value(1, as: Position.self)) }
            for row in rows { try raiseFloor(of: row.share, in: zone, to: row.position) }
            try connection.run(
                "DELETE FROM record WHERE zone = ? AND position = ?", zone, position
            )
            floors[zone] = max(floors[zone] ?? .start, position)
        }
        for (zone, floor) in floors {
            try connection.run(
                "UPDATE zone SET floor = max(floor, ?) WHERE key = ?", floor, zone
            )
        }
        return max(
            tombstones.count, try removeLeftSharedRecords(before: moment, limit: limit))
    }

    private func removeZoneTraces(before moment: Instant, limit: Int) throws -> Int {
        let traces = try connection.rows(
            """
            SELECT key, database, position FROM zone
            WHERE deletion IS NOT NULL AND deleted_at < ? ORDER BY deleted_at LIMIT ?
            """,
            moment, limit
        ) { columns -> (key: ZoneKey, database: DatabaseID, position: Position) in
            (try columns.value(0), try columns.value(1), try columns.value(2))
        }
        for trace in traces {
            try connection.run("DELETE FROM zone WHERE key = ?", trace.key)
            try expireTokens(of: trace.database, before: trace.position)
        }
        return traces.count
    }

    /// Removes rows of records that left a hierarchy and live elsewhere; returns how many.
    private func removeLeftSharedRecords(before moment: Instant, limit: Int) throws -> Int {
        let left = try connection.rows(
            """
            SELECT zone, name, share, position FROM shared_record
            WHERE left_at < ? ORDER BY left_at LIMIT ?
            """,
            moment, limit
        ) { columns -> (zone: ZoneKey, name: String, share: String, position: Position) in
            (try columns.value(0), columns.text(1), columns.text(2), try columns.value(3))
        }
        for row in left {
            try connection.run(
                "DELETE FROM shared_record WHERE zone = ? AND name = ? AND share = ?",
                row.zone, row.name, row.share
            )
            try raiseFloor(of: row.share, in: row.zone, to: row.position)
        }
        return left.count
    }

    /// Notes that the history of a hierarchy lacks something up to a position.
    private func raiseFloor(
        of share: String, in zone: ZoneKey, to position: Position
    ) throws {
        try connection.run(
            "UPDATE share SET floor = max(floor, ?) WHERE zone = ? AND name = ?",
            position, zone, share
        )
    }

    private func removeSharedZoneTraces(before moment: Instant, limit: Int) throws -> Int {
        guard limit > 0 else { return 0 }
        let traces = try connection.rows(
            """
            SELECT database, owner, name, position FROM shared_zone
            WHERE deletion IS NOT NULL AND deleted_at < ? ORDER BY deleted_at LIMIT ?
            """,
            moment, limit
        ) { columns -> (database: DatabaseID, owner: String, name: String, position: Position) in
            (try columns.value(0), columns.text(1), columns.text(2), try columns.value(3))
        }
        for trace in traces {
            try connection.run(
                "DELETE FROM shared_zone WHERE database = ? AND owner = ? AND name = ?",
                trace.database, trace.owner, trace.name
            )
            try expireTokens(of: trace.database, before: trace.position)
        }
        return traces.count
    }
}
