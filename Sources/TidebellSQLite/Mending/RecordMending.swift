// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL
import TidebellWire

/// Fills a table of records that was made anew, from what can be read of the old one.
///
/// Rows of the table and entries of its index of names may contradict each other: a page that
/// can be read may be one of long ago, or have a bit that flipped. The index decides where it
/// can be read. So its entries come first, as records of which nothing is known but the name;
/// each row then replaces the entry at its position, and gets the entry's name. A row that
/// the index does not know is left out where the record has a later position: positions
/// only grow. Entries that no row came for stay: their fields are damaged, which callers are
/// notified, and may save the record anew.
final class RecordMending {
    /// A record in the table that is made.
    private struct Held {
        var name: String
        var isLost: Bool
        var isDamaged: Bool
    }

    private typealias Key = RecordSalvage.Key

    private let writer: Connection
    private let salvage: RecordSalvage
    /// The last position of each zone.
    private var heads: [Int64: Int64] = [:]
    /// Entries that do not stand in order: a row that has another name may be right.
    private var inDoubt: Set<Key> = []
    /// Whether every name there was is known.
    private var namesAreComplete = true
    /// Rows that live and of which the index knows neither the position nor the name.
    private var unknown: [Int64: [Key]] = [:]
    private var renamed = 0
    /// Entries of zones that are not known, and the last key that a zone was given.
    private var namesInUnknownZones: [Key: String] = [:]
    private var lastZone: Int64 = 0

    /// Creates a mending with the connections of ``TableMending``; the table is empty.
    init(writer: Connection, reader: Connection) {
        self.writer = writer
        salvage = RecordSalvage(reader)
    }

    /// Fills the table, and notes what is lost.
    func run(_ mend: inout StoreMend) throws {
        try readZones()
        let entriesAreComplete = try salvage.entries(hold)
        namesAreComplete = namesAreComplete && entriesAreComplete
        try salvage.records { record, zone in
            try restore(record, in: zone)
            return true
        }
        for key in try damagedKeys() {
            guard let record = try salvage.record(at: key) else { continue }
            try restore(record, in: ZoneKey(rawValue: key.zone))
        }
        if namesAreComplete { try removeSurplus() }
        mend.damagedRecords =
            try writer.first("SELECT count(*) FROM record WHERE length(fields) = 0") {
                Int($0.int(0))
            } ?? 0
        mend.renamedRecords = renamed
        mend.unknownZones = try unknownZones()
        mend.zonesWithLosses = try countAnew()
    }

    private func readZones() throws {
        for zone in try writer.rows("SELECT zone FROM removed_zone", read: { $0.int(0) }) {
            heads[zone] = StoreNumbers.limit
        }
        try writer.each("SELECT key, position FROM zone") { columns in
            heads[columns.int(0)] = columns.int(1)
            return true
        }
        lastZone =
            try writer.first("SELECT seq FROM sqlite_sequence WHERE name = 'zone'") { $0.int(0) }
            ?? 0
    }

    // MARK: Entries

    /// Puts a record where an entry is.
    private func hold(_ entry: RecordSalvage.Entry) throws {
        guard let head = heads[entry.key.zone] else {
            if (1...max(1, lastZone)).contains(entry.key.zone), Self.isName(entry.name) {
                namesInUnknownZones[entry.key] = entry.name
            }
            return
        }
        guard Self.isName(entry.name), (1...max(1, head)).contains(entry.key.position) else {
            namesAreComplete = false
            return
        }
        if entry.isInDoubt { inDoubt.insert(entry.key) }
        let lost = StoredRecord.lost(entry)
        guard try !insert(lost, in: entry.key.zone) else { return }
        if let held = try held(at: entry.key) {
            // Where the index is read from its other end too.
            guard held.name != entry.name else { return }
            namesAreComplete = false
            guard inDoubt.contains(entry.key), !entry.isInDoubt else { return }
            try remove(entry.key)
        }
        if let other = try position(of: entry.name, in: entry.key.zone) {
            guard other < entry.key.position else { return }
            try remove(Key(zone: entry.key.zone, position: other))
        }
        _ = try insert(lost, in: entry.key.zone)
    }

    // MARK: Rows

    /// Puts a row where it belongs.
    private func restore(_ record: StoredRecord, in zone: ZoneKey) throws {
        guard let head = heads[zone.rawValue] else { return try keep(record, in: zone) }
        var record = record
        let isEmpty = record.fields.json == RecordFields.none.json
        if record.isDeleted ? record.size != 0 : record.size == 0 && isEmpty {
            // Only a tombstone takes nothing: whether this is one is lost.
            record.isDeleted = false
            record.isDamaged = true
        }
        if record.isDamaged, !record.isDeleted { record.size = Self.size(ofDamaged: record) }
        let key = Key(zone: zone.rawValue, position: record.position.rawValue)
        if let held = try held(at: key) { return try restore(record, at: key, of: held) }
        guard Self.isName(record.name) else {
            namesAreComplete = false
            return
        }
        if let other = try position(of: record.name, in: key.zone) {
            // What is ahead of its zone is no position that was given out.
            guard other < key.position, key.position <= head else { return }
            try remove(Key(zone: key.zone, position: other))
        } else if !record.isDeleted {
            unknown[key.zone, default: []].append(key)
        }
        _ = try insert(record, in: key.zone)
    }

    /// Keeps a record of a zone that is not known, where the index of names knows it too: of what
    /// is on pages that were something else once, only one of both is left.
    private func keep(_ record: StoredRecord, in zone: ZoneKey) throws {
        let key = Key(zone: zone.rawValue, position: record.position.rawValue)
        guard namesInUnknownZones[key] == record.name, !record.isDamaged else { return }
        _ = try insert(record, in: key.zone)
    }

    private func unknownZones() throws -> [String] {
        try writer.rows(
            """
            SELECT zone, count(*) FROM record
            WHERE zone NOT IN (SELECT key FROM zone UNION ALL SELECT zone FROM removed_zone)
            GROUP BY zone
            """
        ) { "\($0.int(0)) (\($0.int(1)) records)" }
    }

    /// What a damaged record takes: its own size, where that can be.
    private static func size(ofDamaged record: StoredRecord) -> Int64 {
        guard record.size > 0, StoreNumbers.recordBytes.contains(record.size) else {
            return record.measuredSize(withFiles: 0)
        }
        return record.size
    }

    /// Replaces what stands at the row's position by the row.
    private func restore(_ record: StoredRecord, at key: Key, of held: Held) throws {
        // A row may come twice.
        guard held.isLost || held.isDamaged && !record.isDamaged else { return }
        var record = record
        if record.name != held.name {
            // What has another name and other fields than were written is another row.
            guard !record.isDamaged else { return }
            if try !isRightAgainstIndex(record.name, at: key) { record.name = held.name }
            renamed += 1
        }
        try remove(key)
        _ = try insert(record, in: key.zone)
    }

    private func isRightAgainstIndex(_ name: String, at key: Key) throws -> Bool {
        guard inDoubt.contains(key), Self.isName(name) else { return false }
        return try position(of: name, in: key.zone) == nil
    }

    /// Whether a record can have this name (REC-1).
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    // MARK: The table

    /// The positions of entries that no row came for, or one whose fields are damaged.
    private func damagedKeys() throws -> [Key] {
        try writer.rows("SELECT zone, position FROM record WHERE length(fields) = 0") {
            Key(zone: $0.int(0), position: $0.int(1))
        }
    }

    private func held(at key: Key) throws -> Held? {
        try writer.first(
            "SELECT name, type, length(fields) FROM record WHERE zone = ? AND position = ?",
            key.zone, key.position
        ) { columns in
            let isDamaged = columns.int(2) == 0
            return Held(
                name: columns.text(0), isLost: isDamaged && columns.text(1).isEmpty,
                isDamaged: isDamaged
            )
        }
    }

    private func position(of name: String, in zone: Int64) throws -> Int64? {
        try writer.first("SELECT position FROM record WHERE zone = ? AND name = ?", zone, name) {
            $0.int(0)
        }
    }

    private func remove(_ key: Key) throws {
        try writer.run(
            "DELETE FROM record WHERE zone = ? AND position = ?", key.zone, key.position)
    }

    /// Returns whether neither the position nor the name was taken.
    private func insert(_ record: StoredRecord, in zone: Int64) throws -> Bool {
        let changer = record.storedChanger
        try writer.run(
            """
            INSERT OR IGNORE INTO record (zone, position, name, type, created_at, created_by,
                created_device, modified_at, modified_by, modified_device, parent, deleted, size,
                fields, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            zone, record.position, record.name, record.type,
            record.created.timestamp, record.created.userRecordName,
            record.created.deviceID, record.modified.timestamp, changer.user, changer.device,
            record.parent, record.isDeleted, record.size,
            record.isDamaged ? [UInt8]() : record.fields.json,
            record.isDamaged ? nil : FieldChecksum.of(record)
        )
        return writer.changeCount > 0
    }

    // MARK: Sums

    /// Removes rows that the index does not know from zones which have more records than they
    /// count: the index did not lose them. They were deleted so long ago that no tombstone is
    /// left, or are of another zone.
    private func removeSurplus() throws {
        for (zone, keys) in unknown {
            let surplus = try writer.first(
                """
                SELECT count(CASE WHEN record.size > 0 THEN 1 END) - zone.records
                FROM zone JOIN record ON record.zone = zone.key WHERE zone.key = ?
                """,
                zone
            ) { $0.int(0) }
            guard let surplus, keys.count <= surplus else { continue }
            for key in keys { try remove(key) }
        }
    }

    /// Sums anew what the records of zones take that lost some; returns the names of zones
    /// of which records are missing and nobody knows which: their sums stay, so that a check
    /// finds them.
    private func countAnew() throws -> [String] {
        let zones = try writer.rows(
            """
            SELECT zone.key, zone.name, zone.records, count(CASE WHEN record.size > 0 THEN 1 END),
                \(StoreNumbers.sum("record.size"))
            FROM zone LEFT JOIN record ON record.zone = zone.key
            WHERE zone.deletion IS NULL GROUP BY zone.key
            HAVING zone.records <> count(CASE WHEN record.size > 0 THEN 1 END)
                OR zone.bytes <> \(StoreNumbers.sum("record.size"))
            """
        ) { columns in
            (
                key: columns.int(0), name: columns.text(1), records: columns.int(2),
                foundRecords: columns.int(3), foundBytes: columns.int(4)
            )
        }
        var withLosses: [String] = []
        for zone in zones {
            guard namesAreComplete || zone.foundRecords >= zone.records else {
                withLosses.append(zone.name)
                continue
            }
            try writer.run(
                "UPDATE zone SET bytes = ?, records = ? WHERE key = ?", zone.foundBytes,
                zone.foundRecords, zone.key
            )
            try writer.run(
                """
                UPDATE database SET (bytes, records) = (
                    SELECT \(StoreNumbers.sum("bytes")), \(StoreNumbers.sum("records")) FROM zone
                    WHERE zone.database = database.id
                ) WHERE id = (SELECT database FROM zone WHERE key = ?)
                """,
                zone.key
            )
        }
        return withLosses
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
