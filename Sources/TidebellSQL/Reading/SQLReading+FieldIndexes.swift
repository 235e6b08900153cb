// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
    package func fieldIndexes(in zone: ZoneKey, of type: String?) throws -> [StoredFieldIndex] {
        guard let type else {
            return try connection.rows(StoredFieldIndex.ofZone, zone, read: StoredFieldIndex.init)
        }
        return try connection.rows(
            StoredFieldIndex.ofType, zone, type, read: StoredFieldIndex.init)
    }

    package func fieldIndex(_ id: FieldIndexID) throws -> StoredFieldIndex? {
        try connection.first(StoredFieldIndex.withID, id, read: StoredFieldIndex.init)
    }

    package func unfinishedFieldIndexes(
        after last: FieldIndexID, limit: Int
    ) throws -> [StoredFieldIndex] {
        try connection.rows(
            StoredFieldIndex.unfinished, last, limit, read: StoredFieldIndex.init)
    }

    package func fieldIndexes(
        unusedSince moment: Instant, limit: Int
    ) throws -> [StoredFieldIndex] {
        try connection.rows(StoredFieldIndex.unused, moment, limit, read: StoredFieldIndex.init)
    }

    package func fieldIndexEntries(
        of index: FieldIndexID, in range: FieldIndexRange, beyond entry: FieldIndexEntry?,
        reverse: Bool, limit: Int
    ) throws -> [FieldIndexEntry] {
        // No entry stands at the position 0.
        var first = FieldIndexEntry(key: range.first, position: .start)
        var end = FieldIndexEntry(key: range.end, position: .start)
        if let entry { if reverse { end = min(end, entry) } else { first = max(first, entry) } }
        return try connection.rows(
            reverse ? FieldIndexEntry.backward : FieldIndexEntry.forward, index, first.key,
            first.position, end.key, end.position, limit
        ) { columns in
            FieldIndexEntry(
                key: FieldIndexKey(rawValue: columns.bytes(0)), position: try columns.value(1))
        }
    }

    package func fieldIndexEntryCount(
        of index: FieldIndexID, in range: FieldIndexRange, limit: Int
    ) throws -> Int {
        try connection.first(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM field_index_entry
                WHERE field_index = ? AND key >= ? AND key < ? LIMIT ?
            ) AS entry
            """,
            index, range.first, range.end, limit
        ) { Int($0.int(0)) } ?? 0
    }

    package func records(
        at positions: [Position], in zone: ZoneKey,
        _ body: (Int, StoredRecord) throws -> Bool
    ) throws {
        guard !positions.isEmpty else { return }
        try connection.each(
            StoredRecord.atPositions, SQLList(positions.map(\.rawValue)), zone
        ) { columns in
            let record = try StoredRecord(columns)
            guard !record.isDeleted else { return true }
            try note(record)
            return try body(Int(columns.int(StoredRecord.columnCount)), record)
        }
    }
}

extension StoredRecord {
    fileprivate static let atPositions = """
        SELECT \(columns), wanted.key FROM json_each(?) AS wanted CROSS JOIN record
        WHERE record.zone = ? AND record.position = wanted.value
        """
}

extension FieldIndexEntry {
    private static let range = """
        SELECT key, position FROM field_index_entry
        WHERE field_index = ? AND (key, position) > (?, ?) AND (key, position) < (?, ?)
        """
    fileprivate static let forward = "\(range) ORDER BY key, position LIMIT ?"
    fileprivate static let backward = "\(range) ORDER BY key DESC, position DESC LIMIT ?"
}

extension StoredFieldIndex {
    private static let columns = """
        field_index.id, (SELECT database FROM zone WHERE zone.key = field_index.zone),
        field_index.zone, field_index.type, field_index.name, field_index.state,
        field_index.built_through, field_index.made_at, field_index.used_at
        """
    fileprivate static let ofZone = """
        SELECT \(columns) FROM field_index INDEXED BY field_index_zone
        WHERE zone = ? AND state <> 2 ORDER BY id
        """
    fileprivate static let ofType = """
        SELECT \(columns) FROM field_index INDEXED BY field_index_zone
        WHERE zone = ? AND type = ? AND state <> 2 ORDER BY id
        """
    fileprivate static let withID = "SELECT \(columns) FROM field_index WHERE id = ?"
    fileprivate static let unfinished = """
        SELECT \(columns) FROM field_index INDEXED BY field_index_unfinished
        WHERE state <> 1 AND id > ? ORDER BY id LIMIT ?
        """
    fileprivate static let unused = """
        SELECT \(columns) FROM field_index INDEXED BY field_index_use
        WHERE state <> 2 AND used_at < ? ORDER BY used_at LIMIT ?
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: try columns.value(0), database: try columns.value(1), zone: try columns.value(2),
            recordType: columns.text(3), name: columns.text(4), state: try columns.value(5),
            builtThrough: try columns.value(6), madeAt: try columns.value(7),
            usedAt: try columns.value(8)
        )
    }
}
