// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

/// The rows of a table that repeat what stands in records: which records they refer
/// to, and which files they hold.
///
/// What was read of a damaged table may be of an earlier moment, or be missing. A record that is
/// intact is the truth: an old reference would delete it with a record that it names no more,
/// an old use would keep a file for ever, and a file without its use would go.
struct DerivedRows {
    enum Table { case references, assetUses }

    /// A row of one record.
    private struct Row: Hashable {
        /// The target, or the content of the file.
        var text: String
        /// The kind of a reference; 0 for a file.
        var kind: Int64 = 0
    }

    private struct Zone {
        var key: ZoneKey
        var id: ZoneID
    }

    /// How many records are in memory at a time.
    private static let page = 100

    private let table: Table
    private let writer: Connection
    private let reader: Connection

    /// Creates rows of a table that was made anew, with the connections of ``TableMending``; the
    /// table of records is sound, or was mended before.
    init(_ table: Table, writer: Connection, reader: Connection) {
        self.table = table
        self.writer = writer
        self.reader = reader
    }

    /// Makes the rows match the records; those of damaged records stay as they are, and
    /// those of zones that are about to go.
    func settle(_ mend: inout StoreMend) throws {
        let zones: [Zone]
        do {
            zones = try readZones()
        } catch DatabaseError.SQLITE_CORRUPT {
            // Of what zone a row is cannot be known: all that was read stays.
            return
        }
        let isDerivable = try settleLiving(in: zones, &mend)
        for (zone, record, row) in try rowsOfNobody() { try drop(row, of: record, in: zone, &mend) }
        // A damaged record may hold a file that nothing else mentions.
        if table == .assetUses, isDerivable { try noteUnusedFiles() }
    }

    /// Settles the rows of living records; returns whether all of these are intact.
    private func settleLiving(in zones: [Zone], _ mend: inout StoreMend) throws -> Bool {
        var areIntact = true
        for zone in zones {
            var position: Int64 = 0
            while true {
                let records = try writer.rows(
                    """
                    SELECT \(StoredRecord.columns) FROM record
                    WHERE zone = ? AND position > ? ORDER BY position LIMIT ?
                    """,
                    zone.key, position, Self.page
                ) { try StoredRecord($0) }
                for record in records where !record.isDeleted {
                    guard !record.isDamaged, let wanted = try? rows(of: record, in: zone) else {
                        areIntact = false
                        continue
                    }
                    try settle(record.name, in: zone.key, wanted, &mend)
                }
                guard let last = records.last else { break }
                position = last.position.rawValue
            }
        }
        return areIntact
    }

    private func readZones() throws -> [Zone] {
        try reader.rows(
            """
            SELECT zone.key, zone.name, user.record_name
            FROM zone JOIN database ON database.id = zone.database
                LEFT JOIN user ON user.id = database.owner
            WHERE zone.deletion IS NULL AND zone.key NOT IN (\(StoreRule.endingZones))
            """
        ) { columns in
            Zone(
                key: try columns.value(0),
                id: ZoneID(zoneName: columns.text(1), ownerRecordName: columns.optionalText(2)))
        }
    }

    private func rows(of record: StoredRecord, in zone: Zone) throws -> Set<Row> {
        switch table {
        case .references:
            Set(
                try record.references(in: zone.id).map {
                    Row(text: $0.target, kind: Int64($0.kind.rawValue))
                })
        case .assetUses: Set(try record.files().map { Row(text: $0.rawValue) })
        }
    }

    private func settle(
        _ record: String, in zone: ZoneKey, _ wanted: Set<Row>, _ mend: inout StoreMend
    ) throws {
        let found = Set(
            try writer.rows(
                table == .references
                    ? "SELECT target, kind FROM reference WHERE zone = ? AND source = ?"
                    : "SELECT content, 0 FROM asset_use WHERE zone = ? AND record = ?",
                zone, record
            ) { Row(text: $0.text(0), kind: $0.int(1)) })
        for row in found.subtracting(wanted) { try drop(row, of: record, in: zone, &mend) }
        for row in wanted.subtracting(found) {
            mend.addedRows += 1
            switch table {
            case .references:
                try writer.run(
                    "INSERT INTO reference (zone, source, target, kind) VALUES (?, ?, ?, ?)",
                    zone, record, row.text, row.kind)
            case .assetUses:
                try writer.run(
                    "INSERT INTO asset_use (zone, record, content) VALUES (?, ?, ?)", zone, record,
                    row.text)
            }
        }
    }

    /// Rows of records that are deleted, or of which nothing else is known.
    private func rowsOfNobody() throws -> [(ZoneKey, String, Row)] {
        let (name, columns) =
            table == .references
            ? ("source", "source, target, kind") : ("record", "record, content, 0")
        let rows = table == .references ? "reference" : "asset_use"
        return try writer.rows(
            """
            SELECT zone, \(columns) FROM \(rows) AS held
            WHERE zone NOT IN (\(StoreRule.endingZones)) AND NOT EXISTS (
                SELECT 1 FROM record LEFT JOIN zone ON zone.key = record.zone
                WHERE record.zone = held.zone AND record.name = held.\(name) AND record.deleted = 0
                    AND zone.deletion IS NULL
            )
            """
        ) { (try $0.value(0), $0.text(1), Row(text: $0.text(2), kind: $0.int(3))) }
    }

    private func drop(
        _ row: Row, of record: String, in zone: ZoneKey, _ mend: inout StoreMend
    ) throws {
        mend.droppedRows += 1
        switch table {
        case .references:
            try writer.run(
                "DELETE FROM reference WHERE zone = ? AND source = ? AND target = ? AND kind = ?",
                zone, record, row.text, row.kind)
        case .assetUses:
            try writer.run(
                "DELETE FROM asset_use WHERE zone = ? AND record = ? AND content = ?", zone,
                record, row.text)
            try SQLTransaction(writer).markUnused(
                AssetContent(rawValue: row.text), since: latestMoment())
        }
    }

    private func noteUnusedFiles() throws {
        try writer.run(
            """
            INSERT INTO asset_unused (content, since) SELECT content, ? FROM asset
            WHERE content NOT IN (SELECT content FROM asset_use)
                AND content NOT IN (SELECT content FROM asset_unused)
            """,
            latestMoment()
        )
    }

    /// The moment of the last change: no position is before the time it was given out at.
    private func latestMoment() throws -> Instant {
        let head = try writer.first("SELECT max(head) FROM database") { $0.int(0) }
        return Instant(rawValue: head ?? 0)
    }
}
