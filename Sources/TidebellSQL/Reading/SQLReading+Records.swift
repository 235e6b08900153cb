// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func records(
        _ names: Set<String>, in zone: ZoneKey, byteLimit: Int
    ) throws -> [String: StoredRecord]? {
        var records: [String: StoredRecord] = [:]
        let byName = connection.indexesMayMissRows ? RecordsByName.alsoMissing : .found
        if let only = names.first, names.count == 1 {
            let record = try connection.first(byName.one, zone, only) {
                try self.record($0, byName.one)
            }
            guard let record else { return records }
            try note(record)
            records[record.name] = record
            return record.fields.json.count > byteLimit ? nil : records
        }
        guard !names.isEmpty else { return records }
        records.reserveCapacity(names.count)
        var bytes = 0
        try connection.each(
            byName.all, SQLList(names), zone,
            within: ScanBound(rows: names.count, bytes: byteLimit)
        ) { columns in
            let record = try self.record(columns, byName.all)
            try note(record)
            bytes += record.fields.json.count
            records[record.name] = record
            return bytes <= byteLimit
        }
        return bytes > byteLimit ? nil : records
    }

    private func record(_ columns: Columns, _ sql: String) throws -> StoredRecord {
        try checkIsThere(columns, sql)
        return try StoredRecord(columns)
    }

    /// Fails where the index of names knows a record that its table does not have.
    private func checkIsThere(_ columns: Columns, _ sql: String) throws {
        guard columns.isNull(0) else { return }
        throw connection.damaged("a record is missing where its name points to", sql)
    }

    package func recordsWithoutFields(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord] {
        guard !names.isEmpty else { return [:] }
        let heads = (connection.indexesMayMissRows ? RecordsByName.alsoMissing : .found).heads
        let records = try connection.rows(heads, SQLList(names), zone) { columns in
            try checkIsThere(columns, heads)
            let record = try StoredRecord(columns, fields: .none)
            return (record.name, record)
        }
        return Dictionary(records) { first, _ in first }
    }

    package func recordChanges(
        in zone: ZoneKey, after position: Position, limit: Int, byteLimit: Int, reverse: Bool
    ) throws -> (records: [StoredRecord], isComplete: Bool) {
        var records: [StoredRecord] = []
        var bytes = 0
        var isComplete = true
        var author = RecordStamp.nobodys
        try connection.each(
            reverse ? StoredRecord.pageBackward : StoredRecord.pageForward, zone, position,
            // One row more than the page shows whether anything lies beyond it.
            within: ScanBound(rows: min(limit, .max - 1) + 1, bytes: byteLimit)
        ) { columns in
            guard records.count < limit, bytes < byteLimit else {
                isComplete = false
                return false
            }
            let record = try StoredRecord(columns, by: author)
            try note(record)
            bytes += record.fields.json.count
            author = record.modified
            records.append(record)
            return true
        }
        return (records, isComplete)
    }

    package func scanRecords(
        of type: String, in zones: [ZoneKey], after cursor: RecordCursor?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        for zone in zones {
            var start = Position.start
            if let cursor, zone <= cursor.zone {
                guard zone == cursor.zone else { continue }
                start = cursor.position
            }
            var goesOn = true
            try connection.each(StoredRecord.ofType, zone, type, start) { columns in
                let record = try StoredRecord(columns)
                try note(record)
                goesOn = try body(record, zone)
                return goesOn
            }
            guard goesOn else { return }
        }
    }

    package func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?) {
        var names: [String] = []
        var (last, seen) = (position, 0)
        try connection.each(
            """
            SELECT position, name, deleted = 0 AND created_by = ?1 FROM record
            WHERE zone = ?2 AND position > ?3 ORDER BY position LIMIT ?4
            """,
            user, zone, position, rows
        ) { columns in
            last = try columns.value(0)
            seen += 1
            if columns.bool(2) { names.append(columns.text(1)) }
            return names.count < limit
        }
        return (names, names.count < limit && seen < rows ? nil : last)
    }

    package func references(
        to targets: Set<String>, in zone: ZoneKey
    ) throws -> [StoredReference] {
        guard !targets.isEmpty else { return [] }
        return try connection.rows(
            """
            SELECT reference.source, reference.target, reference.kind
            FROM json_each(?) AS wanted CROSS JOIN reference
            WHERE reference.zone = ? AND reference.target = \(SQLList.text("wanted.value"))
            """,
            SQLList(targets), zone
        ) { columns in
            StoredReference(
                source: columns.text(0), target: columns.text(1),
                kind: try columns.value(2)
            )
        }
    }

    package func children(
        of parents: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: [String]]? {
        guard !parents.isEmpty else { return [:] }
        var (children, count) = ([String: [String]](), 0)
        try connection.each(
            """
            SELECT reference.source, reference.target, reference.kind
            FROM json_each(?) AS wanted CROSS JOIN reference INDEXED BY reference_target
            WHERE reference.zone = ? AND reference.target = \(SQLList.text("wanted.value"))
            """,
            SQLList(parents), zone
        ) { columns in
            count += 1
            if try columns.value(2, as: StoredReference.Kind.self) == .parent {
                children[columns.text(1), default: []].append(columns.text(0))
            }
            return count <= limit
        }
        return count <= limit ? children : nil
    }

    package func children(
        of parent: String, in zone: ZoneKey, after last: String, limit: Int
    ) throws -> (names: [String], next: String?) {
        let found = try connection.rows(
            """
            SELECT source, max(CASE WHEN kind = ?1 THEN 1 ELSE 0 END)
            FROM reference INDEXED BY reference_target
            WHERE zone = ?2 AND target = ?3 AND source > ?4
            GROUP BY source ORDER BY source LIMIT ?5
            """,
            StoredReference.Kind.parent, zone, parent, last, limit
        ) { (name: $0.text(0), isChild: $0.bool(1)) }
        return (
            found.filter(\.isChild).map(\.name), found.count < limit ? nil : found.last?.name
        )
    }

    package func deleteSelfCounts(
        to targets: Set<String>, in zone: ZoneKey
    ) throws -> [String: Int] {
        guard !targets.isEmpty else { return [:] }
        let counts = try connection.rows(
            """
            SELECT reference.target, count(*)
            FROM json_each(?) AS wanted CROSS JOIN reference
            WHERE reference.zone = ? AND reference.target = \(SQLList.text("wanted.value"))
                AND reference.kind = ?
            GROUP BY reference.target
            """,
            SQLList(targets), zone, StoredReference.Kind.deleteSelf
        ) { columns in
            (columns.text(0), Int(columns.int(1)))
        }
        return Dictionary(counts) { first, _ in first }
    }
}

extension StoredRecord {
    // Without statistics SQLite might walk the whole zone instead.
    fileprivate static let ofType = """
        SELECT \(columns) FROM record INDEXED BY record_type
        WHERE zone = ? AND type = ? AND deleted = 0 AND position > ? ORDER BY position
        """
}

extension StoredRecord {
    /// What ``init(_:)`` reads.
    package static let columns = "\(head), record.fields, record.checksum"
    /// How many columns there are.
    package static let columnCount: Int32 = 14
    /// What stands before the fields.
    package static let head = """
        record.name, record.type, record.position, record.created_at, record.created_by,
        record.created_device, record.modified_at, record.modified_by, record.modified_device,
        record.parent, record.deleted, record.size
        """

    fileprivate static let pageForward =
        "SELECT \(columns) FROM record WHERE zone = ? AND position > ? ORDER BY position"
    fileprivate static let pageBackward =
        "SELECT \(columns) FROM record WHERE zone = ? AND position < ? ORDER BY position DESC"

    /// Whether the numbers before the fields can have been written: of rows of older versions no
    /// checksum shows it.
    private var hasSaneNumbers: Bool {
        StoreNumbers.moments.contains(created.timestamp)
            && StoreNumbers.moments.contains(modified.timestamp)
            && StoreNumbers.recordBytes.contains(size) && (!isDeleted || size == 0)
    }

    /// Reads a row of ``columns``; fields of one that is not what was written are left out.
    ///
    /// - Parameter author: Who wrote the row before; mostly this one, too.
    package init(_ columns: Columns, by author: RecordStamp = .nobodys) throws {
        let record = try StoredRecord(
            columns, fields: RecordFields(json: columns.bytes(12)), by: author)
        let isWhole = FieldChecksum.admits(
            record, columns.optionalInt(13), ifOlder: record.hasSaneNumbers)
        self = record
        guard !isWhole else { return }
        isDamaged = true
        fields = .none
        // It is the mark of the deletion that is damaged.
        if size != 0 { isDeleted = false }
    }

    /// Reads the columns before the fields.
    fileprivate init(
        _ columns: Columns, fields: RecordFields, by author: RecordStamp = .nobodys
    ) throws {
        let created = RecordStamp(
            timestamp: columns.int(3),
            userRecordName: columns.text(4, like: author.userRecordName),
            deviceID: columns.text(5, like: author.deviceID)
        )
        self.init(
            name: columns.text(0),
            type: columns.text(1),
            position: try columns.value(2),
            created: created,
            modified: Self.modified(columns, created),
            parent: columns.optionalText(9),
            fields: fields,
            isDeleted: columns.bool(10),
            size: columns.int(11)
        )
    }
}

extension StoredRecord {
    /// Who changed it last as a row has it: two empty texts where it is who created it, as of most
    /// records. Names and device IDs are a fourth of a small record.
    package var storedChanger: (user: String, device: String) {
        modified.userRecordName == created.userRecordName && modified.deviceID == created.deviceID
            ? ("", "") : (modified.userRecordName, modified.deviceID)
    }

    private static func modified(_ columns: Columns, _ created: RecordStamp) -> RecordStamp {
        var modified = created
        modified.timestamp = columns.int(6)
        guard columns.byteCount(7) > 0 || columns.byteCount(8) > 0 else { return modified }
        modified.userRecordName = columns.text(7, like: created.userRecordName)
        modified.deviceID = columns.text(8, like: created.deviceID)
        return modified
    }
}

extension RecordStamp {
    /// That of no record.
    package static let nobodys = RecordStamp(timestamp: 0, userRecordName: "", deviceID: "")
}

/// The statements that find records of a zone by their names.
package struct RecordsByName: Sendable {
    /// Where indexes are right.
    package static let found = RecordsByName(in: "record", as: "record")
    /// Where the index of names may know one whose record is not there: its columns are NULL then.
    static let alsoMissing = RecordsByName(
        in: """
            record AS entry INDEXED BY record_name LEFT JOIN record ON record.zone = entry.zone
                AND record.position = entry.position AND record.name = entry.name
            """, as: "entry")

    package let one: String
    package let all: String
    /// ``all`` without the fields.
    package let heads: String

    private init(in tables: String, as entry: String) {
        // What takes nothing was deleted; a row that claims so and takes something is damaged.
        let isThere = "(record.deleted IS NOT 1 OR record.size <> 0)"
        func all(_ columns: String) -> String {
            """
            SELECT \(columns) FROM json_each(?) AS wanted CROSS JOIN \(tables)
            WHERE \(entry).zone = ? AND \(entry).name = \(SQLList.text("wanted.value"))
                AND \(isThere)
            """
        }
        one = """
            SELECT \(StoredRecord.columns) FROM \(tables)
            WHERE \(entry).zone = ? AND \(entry).name = ? AND \(isThere)
            """
        self.all = all(StoredRecord.columns)
        heads = all(StoredRecord.head)
    }
}
