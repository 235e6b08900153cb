// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellWire

/// Makes tables anew of which pages are damaged, with everything in them that can be read.
///
/// SQLite neither writes past a damaged page nor removes what leads to it. So the table is
/// struck off the list of tables and made again; its pages stay in the file, used by nobody,
/// until the file is copied (`VACUUM`). A record of which only the name is left becomes one
/// whose fields are damaged, which callers are told and may save anew.
struct TableMending {
    /// The tables that can be made anew: their rows stand in indexes too, and tell what is
    /// missing.
    static let tables = ["record", "reference", "asset_use"]

    /// In a transaction of its own, in which it has met no damage.
    let writer: Connection
    /// Another connection, outside of any transaction, that sees what `writer` sees: what
    /// meets damage in a transaction can write no more in it.
    let reader: Connection

    /// Mends what is damaged of ``tables``; returns nil where they are sound.
    func run() throws -> StoreMend? {
        var mend = StoreMend()
        for table in try Self.tables.filter({ try !Self.isSound($0, on: reader) }) {
            try strikeOff(table)
            mend.tables.append(table)
            if table == "record" {
                try copyRecords(&mend)
            } else {
                try copyRows(of: table)
            }
        }
        return mend.tables.isEmpty ? nil : mend
    }

    /// Whether all pages and indexes of a table are as they must be.
    static func isSound(_ table: String, on connection: Connection) throws -> Bool {
        do {
            let lines = try connection.rows("PRAGMA integrity_check('\(table)')") { $0.text(0) }
            return lines == ["ok"]
        } catch DatabaseError.SQLITE_CORRUPT {
            return false
        }
    }

    /// Makes the table and its indexes anew, empty.
    private func strikeOff(_ table: String) throws {
        let statements = try writer.rows(
            """
            SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL
            ORDER BY type = 'index', rowid
            """,
            table
        ) { $0.text(0) }
        // NB: DROP would walk through all pages.
        try writer.run("PRAGMA writable_schema = ON")
        try writer.run("DELETE FROM sqlite_schema WHERE tbl_name = ?", table)
        try writer.run("PRAGMA writable_schema = RESET")
        for statement in statements { try writer.database.execute(sql: statement) }
    }

    // MARK: Records

    private func copyRecords(_ mend: inout StoreMend) throws {
        let zones = Set(
            try writer.rows("SELECT key FROM zone UNION SELECT zone FROM removed_zone") {
                $0.int(0)
            }
        )
        let salvage = RecordSalvage(reader)
        try salvage.records { record, zone in
            // Rows of pages that were something else once.
            guard zones.contains(zone.rawValue) else { return true }
            try insert(record, in: zone)
            return true
        }
        let namesAreComplete = try salvage.entries { entry in
            guard zones.contains(entry.key.zone), try isMissing(entry) else { return }
            try insert(.lost(entry), in: ZoneKey(rawValue: entry.key.zone))
        }
        mend.damagedRecords =
            try writer.first("SELECT count(*) FROM record WHERE length(fields) = 0") {
                Int($0.int(0))
            } ?? 0
        mend.zonesWithLosses = try countAnew(namesAreComplete: namesAreComplete)
    }

    private func isMissing(_ entry: RecordSalvage.Entry) throws -> Bool {
        try writer.first(
            "SELECT 1 FROM record WHERE zone = ? AND name = ?", entry.key.zone, entry.name
        ) { _ in true } == nil
    }

    private func insert(_ record: StoredRecord, in zone: ZoneKey) throws {
        // Where a record comes twice, the first is as good.
        try writer.run(
            """
            INSERT OR IGNORE INTO record (zone, position, name, type, created_at, created_by,
                created_device, modified_at, modified_by, modified_device, parent, deleted, size,
                fields, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            zone, record.position, record.name, record.type,
            record.created.timestamp, record.created.userRecordName,
            record.created.deviceID, record.modified.timestamp,
            record.modified.userRecordName, record.modified.deviceID, record.parent,
            record.isDeleted, record.size,
            record.isDamaged ? [UInt8]() : record.fields.json,
            record.isDamaged ? nil : FieldChecksum.of(record.fields.json)
        )
    }

    /// Sums anew what the records of zones take that lost some; returns the names of zones
    /// of which records are missing and nobody knows which: their sums stay, so that a check
    /// finds them.
    private func countAnew(namesAreComplete: Bool) throws -> [String] {
        let zones = try writer.rows(
            """
            SELECT zone.key, zone.name, zone.records, zone.bytes,
                count(CASE WHEN record.size > 0 THEN 1 END), ifnull(sum(record.size), 0)
            FROM zone LEFT JOIN record ON record.zone = zone.key
            WHERE zone.deletion IS NULL GROUP BY zone.key
            HAVING zone.records <> count(CASE WHEN record.size > 0 THEN 1 END)
                OR zone.bytes <> ifnull(sum(record.size), 0)
            """
        ) { columns in
            (
                key: columns.int(0), name: columns.text(1), records: columns.int(2),
                bytes: columns.int(3), foundRecords: columns.int(4), foundBytes: columns.int(5)
            )
        }
        var withLosses: [String] = []
        for zone in zones {
            guard namesAreComplete || zone.foundRecords >= zone.records else {
                withLosses.append(zone.name)
                continue
            }
            try writer.run(
                """
                UPDATE database SET bytes = bytes + ?, records = records + ?
                WHERE id = (SELECT database FROM zone WHERE key = ?)
                """,
                zone.foundBytes - zone.bytes, zone.foundRecords - zone.records, zone.key
            )
            try writer.run(
                "UPDATE zone SET bytes = ?, records = ? WHERE key = ?", zone.foundBytes,
                zone.foundRecords, zone.key
            )
        }
        return withLosses
    }

    // MARK: Tables whose rows stand whole in an index

    private func copyRows(of table: String) throws {
        switch table {
        case "reference":
            try copy(
                table, ["zone", "source", "target", "kind"], index: "reference_target",
                indexed: ["zone", "target", "source", "kind"]
            ) { [$0.int(0), $0.text(1), $0.text(2), $0.int(3)] }
        default:
            try copy(
                table, ["zone", "record", "content"], index: "asset_use_content",
                indexed: ["content", "zone", "record"]
            ) { [$0.int(0), $0.text(1), $0.text(2)] }
        }
    }

    private func copy(
        _ table: String, _ key: [String], index: String, indexed: [String],
        read: (Columns) -> [any Bindable]
    ) throws {
        let columns = key.joined(separator: ", ")
        let places = key.map { _ in "?" }.joined(separator: ", ")
        let insert = "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(places))"
        for (source, order) in [("NOT INDEXED", key), ("INDEXED BY \(index)", indexed)] {
            for direction in ["", " DESC"] {
                let sorted = order.map { $0 + direction }.joined(separator: ", ")
                var failure: (any Error)?
                do {
                    try reader.each("SELECT \(columns) FROM \(table) \(source) ORDER BY \(sorted)")
                    {
                        row in
                        do {
                            try writer.run(insert, values: read(row))
                        } catch {
                            failure = error
                            return false
                        }
                        return true
                    }
                    if let failure { throw failure }
                    break
                } catch DatabaseError.SQLITE_CORRUPT where failure == nil {
                    // The rest is read from the other end, and from the index.
                }
            }
        }
    }
}

extension StoredRecord {
    /// What stands for a record of which nothing is left but its name: damaged, of no type.
    fileprivate static func lost(_ entry: RecordSalvage.Entry) -> StoredRecord {
        // Positions are not before the time they were given out at.
        let stamp = RecordStamp(
            timestamp: entry.key.position, userRecordName: "", deviceID: "")
        var record = StoredRecord(
            name: entry.name, type: "", position: Position(rawValue: entry.key.position),
            created: stamp, modified: stamp, fields: .none, size: 1
        )
        record.isDamaged = true
        return record
    }
}
