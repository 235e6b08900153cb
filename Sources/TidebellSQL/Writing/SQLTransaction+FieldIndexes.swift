// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func makeFieldIndex(
        _ name: String, of type: String, in zone: StoredZone, at now: Instant
    ) throws -> StoredFieldIndex {
        let known = try fieldIndexes(in: zone.key, of: type).first { $0.name == name }
        if let known { return known }
        try connection.run(
            """
            INSERT INTO field_index (zone, type, name, state, built_through, made_at, used_at)
            VALUES (?, ?, ?, ?, 0, ?, ?)
            """,
            zone.key, type, name, StoredFieldIndex.State.building, zone.position, now
        )
        let id = FieldIndexID(rawValue: connection.lastInsertedID)
        try connection.run("UPDATE zone SET indexed = 1 WHERE key = ? AND indexed = 0", zone.key)
        return StoredFieldIndex(
            id: id, database: zone.database, zone: zone.key, recordType: type, name: name,
            state: .building, builtThrough: .start, madeAt: zone.position, usedAt: now
        )
    }

    package func putFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID) throws {
        for entry in entries {
            try connection.run(
                """
                INSERT OR IGNORE INTO field_index_entry (field_index, key, position)
                VALUES (?, ?, ?)
                """,
                index, entry.key, entry.position
            )
        }
    }

    package func removeFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID)
        throws
    {
        for entry in entries {
            try connection.run(
                """
                DELETE FROM field_index_entry WHERE field_index = ? AND key = ? AND position = ?
                """,
                index, entry.key, entry.position
            )
        }
    }

    package func noteFieldIndex(
        _ index: FieldIndexID, builtThrough position: Position, isReady: Bool
    ) throws {
        try connection.run(
            "UPDATE field_index SET built_through = ?, state = ? WHERE id = ?", position,
            isReady ? StoredFieldIndex.State.ready : .building, index
        )
    }

    package func noteUse(of indexes: Set<FieldIndexID>, at now: Instant) throws {
        guard !indexes.isEmpty else { return }
        try connection.run(
            """
            UPDATE field_index SET used_at = ?1
            WHERE id IN (SELECT wanted.value FROM json_each(?2) AS wanted) AND used_at < ?1
            """,
            now, SQLList(indexes.map(\.rawValue).sorted())
        )
    }

    package func dropFieldIndex(_ index: FieldIndexID, limit: Int) throws -> Bool {
        guard let stored = try fieldIndex(index) else { return true }
        try connection.run(
            "UPDATE field_index SET state = ? WHERE id = ?", StoredFieldIndex.State.dropped, index)
        try connection.run(
            """
            UPDATE zone SET indexed = 0 WHERE key = ?1 AND indexed = 1
                AND NOT EXISTS (SELECT 1 FROM field_index WHERE zone = ?1 AND state <> 2)
            """,
            stored.zone
        )
        guard try removeEntries(of: index, limit: limit) < limit else { return false }
        try connection.run("DELETE FROM field_index WHERE id = ?", index)
        return true
    }

    /// Removes indexes of a zone with their entries, at most `limit` rows; returns how many went.
    package func removeFieldIndexes(of zone: ZoneKey, limit: Int) throws -> Int {
        // A copy of an older version, from which a backup is made, has none.
        guard try connection.hasTable("field_index") else { return 0 }
        let indexes: [FieldIndexID] = try connection.rows(
            "SELECT id FROM field_index INDEXED BY field_index_zone WHERE zone = ?", zone
        ) { try $0.value(0) }
        var count = 0
        for index in indexes {
            count += try removeEntries(of: index, limit: limit - count)
            guard count < limit else { return count }
            try connection.run("DELETE FROM field_index WHERE id = ?", index)
            count += 1
            guard count < limit else { return count }
        }
        return count
    }

    private func removeEntries(of index: FieldIndexID, limit: Int) throws -> Int {
        try connection.rows(
            """
            DELETE FROM field_index_entry WHERE field_index = ?1 AND (key, position) IN (
                SELECT key, position FROM field_index_entry WHERE field_index = ?1 LIMIT ?2
            ) RETURNING 1
            """,
            index, limit
        ) { $0.int(0) }.count
    }
}
