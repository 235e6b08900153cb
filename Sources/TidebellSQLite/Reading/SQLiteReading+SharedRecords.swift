// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func sharesHolding(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: String] {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(
            SharedRecord.holding, JSONText(names), zone
        ) { ($0.text(0), $0.text(1)) }
        return Dictionary(found) { first, _ in first }
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

extension SharedRecord {
    fileprivate static let holding = """
        SELECT shared_record.name, shared_record.share
        FROM json_each(?) AS wanted CROSS JOIN shared_record
            CROSS JOIN record INDEXED BY record_name ON record.zone = shared_record.zone
                AND record.name = shared_record.name AND record.deleted = 0
        WHERE shared_record.zone = ? AND shared_record.left_at IS NULL
            AND shared_record.name = \(JSONText.string("wanted.value"))
        """
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
        var record = try StoredRecord(columns)
        if columns.bool(15) {
            record.fields = .none
            record.parent = nil
            record.isDeleted = true
            record.isDamaged = false
        }
        self.init(share: share, position: try columns.value(14), record: record)
    }
}
