// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func memberships(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: HierarchyMembership] {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(
            HierarchyMembership.named, JSONText(names), zone
        ) { ($0.text(0), try HierarchyMembership($0, from: 1)) }
        return Dictionary(found) { first, _ in first }
    }

    package func places(
        above names: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: HierarchyPlace]? {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(
            HierarchyPlace.above, JSONText(names), zone, limit + 1
        ) { ($0.optionalText(0), try HierarchyPlace($0, from: 1)) }
        // What is not there counts, too.
        guard found.count <= limit else { return nil }
        let places = found.compactMap { name, place in name.map { ($0, place) } }
        return Dictionary(places) { first, _ in first }
    }

    package func sharedRecordChanges(
        in zone: ZoneKey, of shares: Set<String>, after position: Position, limit: Int,
        byteLimit: Int, reverse: Bool
    ) throws -> (changes: [SharedRecordChange], isComplete: Bool) {
        var found: [SharedRecordChange] = []
        var isComplete = true
        for share in shares.sorted() {
            var (count, bytes) = (0, 0)
            try connection.each(
                reverse ? SharedRecordChange.backward : SharedRecordChange.forward, zone, share,
                position
            ) { columns in
                // One row more than the page shows whether anything lies beyond it.
                guard count < limit, bytes < byteLimit else {
                    isComplete = false
                    return false
                }
                let change = try SharedRecordChange(columns, of: share)
                try note(change.record)
                count += 1
                bytes += change.record.fields.json.count
                found.append(change)
                return true
            }
        }
        guard shares.count > 1 else { return (found, isComplete) }
        // At one position a record leaves a hierarchy for another.
        found.sort { left, right in
            guard left.position == right.position else {
                return (left.position < right.position) != reverse
            }
            return left.record.isDeleted && !right.record.isDeleted
        }
        return found.page(limit: limit, byteLimit: byteLimit, isComplete: isComplete)
    }

    package func newestSharedPosition(
        in zone: ZoneKey, of shares: Set<String>
    ) throws -> Position? {
        try connection.first(
            """
            SELECT max((
                SELECT max(position) FROM shared_record INDEXED BY shared_record_history
                WHERE zone = ?1 AND share = \(JSONText.string("wanted.value"))
            )) FROM json_each(?2) AS wanted
            """,
            zone, JSONText(shares)
        ) { try $0.optional(0) } ?? nil
    }

    package func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (StoredRecord) throws -> Bool
    ) throws {
        try connection.each(
            SharedRecordChange.ofType, zone, type, position, JSONText(shares)
        ) { columns in
            let record = try StoredRecord(columns)
            try note(record)
            return try body(record)
        }
    }
}

extension [SharedRecordChange] {
    /// The first of changes in their order, as many as a page takes; changes at one position are
    /// on one page, since the next one begins behind it.
    fileprivate func page(
        limit: Int, byteLimit: Int, isComplete: Bool
    ) -> (changes: [SharedRecordChange], isComplete: Bool) {
        var (count, bytes) = (0, 0)
        for change in self {
            let isSamePosition = count > 0 && self[count - 1].position == change.position
            guard isSamePosition || (count < limit && bytes < byteLimit) else {
                return (Array(prefix(count)), false)
            }
            count += 1
            bytes += change.record.fields.json.count
        }
        return (self, isComplete)
    }
}

extension HierarchyMembership {
    fileprivate static let columns = "shared_record.share, shared_record.entry, shared_record.above"
    /// What is there, of a share that goes on: one that ended may have left rows.
    fileprivate static let holds = """
        shared_record.left_at IS NULL AND EXISTS (
            SELECT 1 FROM share WHERE share.zone = shared_record.zone
                AND share.name = shared_record.share AND share.began <= shared_record.entry
        )
        """
    fileprivate static let named = """
        SELECT shared_record.name, \(columns)
        FROM json_each(?) AS wanted CROSS JOIN shared_record
            CROSS JOIN record INDEXED BY record_name ON record.zone = shared_record.zone
                AND record.name = shared_record.name AND record.deleted = 0
        WHERE shared_record.zone = ? AND \(holds)
            AND shared_record.name = \(JSONText.string("wanted.value"))
        """

    fileprivate init(_ columns: Columns, from first: Int32) throws {
        self.init(
            share: columns.text(first), entry: try columns.value(first + 1),
            above: try columns.value(first + 2)
        )
    }
}

extension HierarchyPlace {
    fileprivate static let above = """
        WITH RECURSIVE above (name) AS (
            SELECT \(JSONText.string("wanted.value")) FROM json_each(?1) AS wanted
            UNION
            SELECT record.parent FROM above
                CROSS JOIN record INDEXED BY record_name ON record.zone = ?2
                    AND record.name = above.name AND record.deleted = 0
            WHERE record.parent IS NOT NULL
            LIMIT ?3
        )
        SELECT record.name, record.parent, ifnull(
                (SELECT name FROM share WHERE zone = ?2 AND root = record.name),
                (SELECT name FROM share WHERE zone = ?2 AND name = record.name)
            ), \(HierarchyMembership.columns)
        FROM above
            LEFT JOIN record INDEXED BY record_name ON record.zone = ?2
                AND record.name = above.name AND record.deleted = 0
            LEFT JOIN shared_record ON shared_record.zone = record.zone
                AND shared_record.name = record.name AND \(HierarchyMembership.holds)
        """

    fileprivate init(_ columns: Columns, from first: Int32) throws {
        self.init(
            parent: columns.optionalText(first),
            membership: columns.isNull(first + 2)
                ? nil : try HierarchyMembership(columns, from: first + 2),
            ownShare: columns.optionalText(first + 1)
        )
    }
}

extension SharedRecordChange {
    private static let columns = """
        SELECT \(StoredRecord.columns), shared_record.position, shared_record.left_at IS NOT NULL
        FROM shared_record INDEXED BY shared_record_history
            CROSS JOIN record INDEXED BY record_name ON record.zone = shared_record.zone
                AND record.name = shared_record.name
        WHERE shared_record.zone = ? AND shared_record.share = ?
        """
    fileprivate static let forward =
        "\(columns) AND shared_record.position > ? ORDER BY shared_record.position"
    fileprivate static let backward =
        "\(columns) AND shared_record.position < ? ORDER BY shared_record.position DESC"
    /// What is in hierarchies, found as all of a type are.
    fileprivate static let ofType = """
        SELECT \(StoredRecord.columns) FROM record INDEXED BY record_type
        WHERE record.zone = ? AND record.type = ? AND record.deleted = 0 AND record.position > ?
            AND EXISTS (
                SELECT 1 FROM shared_record WHERE shared_record.zone = record.zone
                    AND shared_record.name = record.name AND shared_record.left_at IS NULL
                    AND shared_record.share IN (
                        SELECT \(JSONText.string("wanted.value")) FROM json_each(?) AS wanted
                    )
            )
        ORDER BY record.position
        """

    /// Reads a row; of a record that left, nothing of what it is now.
    fileprivate init(_ columns: Columns, of share: String) throws {
        self.init(
            share: share, position: try columns.value(14), record: try StoredRecord(columns))
        if columns.bool(15) { self = leaving }
    }
}
