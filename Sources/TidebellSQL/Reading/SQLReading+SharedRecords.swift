// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func memberships(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: HierarchyMembership] {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(
            HierarchyMembership.named, SQLList(names), zone
        ) { ($0.text(0), try HierarchyMembership($0, from: 1)) }
        return Dictionary(found) { first, _ in first }
    }

    package func departures(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: [String: [Position]]] {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(SharedRecordChange.departures, SQLList(names), zone) {
            (name: $0.text(0), share: $0.text(1), since: try $0.value(2) as Position)
        }
        return found.reduce(into: [:]) {
            $0[$1.name, default: [:]][$1.share, default: []].append($1.since)
        }
    }

    package func places(
        above names: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: HierarchyPlace]? {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(
            HierarchyPlace.above, SQLList(names), zone, limit + 1
        ) { ($0.optionalText(0), try HierarchyPlace($0, from: 1)) }
        // What is not there counts, too.
        guard found.count <= limit else { return nil }
        let places = found.compactMap { name, place in name.map { ($0, place) } }
        return Dictionary(places) { first, _ in first }
    }

    package func places(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: HierarchyPlace] {
        guard !names.isEmpty else { return [:] }
        let found = try connection.rows(HierarchyPlace.named, SQLList(names), zone) {
            ($0.text(0), try HierarchyPlace($0, from: 1))
        }
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
                WHERE zone = ?1 AND share = \(SQLList.text("wanted.value"))
            )) FROM json_each(?2) AS wanted
            """,
            zone, SQLList(shares)
        ) { try $0.optional(0) } ?? nil
    }

    package func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (Position, StoredRecord?) throws -> Bool
    ) throws {
        var histories = shares.sorted().map { HierarchyHistory(share: $0, last: position) }
        while true {
            for index in histories.indices where histories[index].needsRows {
                try histories[index].read(in: zone, connection)
            }
            let rows = histories.next()
            guard !rows.isEmpty, try scan(rows, for: type, in: zone, body) else { return }
        }
    }

    /// Calls `body` with rows of histories, and the records of a type among them; returns whether it
    /// goes on.
    private func scan(
        _ rows: [HierarchyHistory.Row], for type: String, in zone: ZoneKey,
        _ body: (Position, StoredRecord?) throws -> Bool
    ) throws -> Bool {
        var goesOn = true
        var next = rows.startIndex
        /// Passes the rows up to that of a record.
        func pass(upTo record: StoredRecord?) throws -> Bool {
            while goesOn, next < rows.endIndex {
                let row = rows[next]
                next += 1
                let isFound = row.isThere && row.name == record?.name
                goesOn = try body(row.position, isFound ? record : nil)
                if isFound { break }
            }
            return goesOn
        }
        let names = rows.lazy.filter(\.isThere).map(\.name)
        try connection.each(
            SharedRecordChange.ofType, SQLList(names), zone, type
        ) { columns in
            let record = try StoredRecord(columns)
            try note(record)
            return try pass(upTo: record)
        }
        return try pass(upTo: nil)
    }
}

/// What is still to be passed of the history of a hierarchy.
private struct HierarchyHistory {
    struct Row {
        var name: String
        var position: Position
        /// Whether the record is there, or left.
        var isThere: Bool
    }

    /// How many rows are read together.
    private static let rowsTogether = 200

    let share: String
    /// Up to where the history is read.
    private(set) var last: Position
    private(set) var isComplete = false
    fileprivate private(set) var rows: ArraySlice<Row> = []

    init(share: String, last: Position) {
        self.share = share
        self.last = last
    }

    var needsRows: Bool { rows.isEmpty && !isComplete }

    /// Reads the next rows.
    mutating func read(in zone: ZoneKey, _ connection: any SQLConnection) throws {
        let found = try connection.rows(
            """
            SELECT name, position, left_at IS NULL
            FROM shared_record INDEXED BY shared_record_history
            WHERE zone = ? AND share = ? AND position > ? ORDER BY position LIMIT ?
            """,
            zone, share, last, Self.rowsTogether
        ) { Row(name: $0.text(0), position: try $0.value(1), isThere: $0.bool(2)) }
        rows = found[...]
        isComplete = found.count < Self.rowsTogether
        last = found.last?.position ?? last
    }

    /// Takes the rows up to a position.
    mutating func take(upTo end: Position?) -> ArraySlice<Row> {
        let taken = end.map { end in rows.prefix { $0.position <= end } } ?? rows
        rows = rows.dropFirst(taken.count)
        return taken
    }
}

extension [HierarchyHistory] {
    /// Takes the next rows of all, in order: up to where the one ends that is read least far. What is
    /// there comes before what left at the same position.
    fileprivate mutating func next() -> [HierarchyHistory.Row] {
        let end = lazy.filter { !$0.isComplete }.map(\.last).min()
        var rows: [HierarchyHistory.Row] = []
        for index in indices { rows += self[index].take(upTo: end) }
        guard count > 1 else { return rows }
        return rows.sorted { left, right in
            left.position == right.position
                ? left.isThere && !right.isThere : left.position < right.position
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
            AND shared_record.name = \(SQLList.text("wanted.value"))
        """

    fileprivate init(_ columns: Columns, from first: Int32) throws {
        self.init(
            share: columns.text(first), entry: try columns.value(first + 1),
            above: try columns.value(first + 2)
        )
    }
}

extension HierarchyPlace {
    private static let columns = """
        record.name, record.parent, ifnull(
            (SELECT name FROM share WHERE zone = ?2 AND root = record.name),
            (SELECT name FROM share WHERE zone = ?2 AND name = record.name)
        ), \(HierarchyMembership.columns)
        """
    fileprivate static let above = """
        WITH RECURSIVE above (name) AS (
            SELECT \(SQLList.text("wanted.value")) FROM json_each(?1) AS wanted
            UNION
            SELECT record.parent FROM above
                CROSS JOIN record INDEXED BY record_name ON record.zone = ?2
                    AND record.name = above.name AND record.deleted = 0
            WHERE record.parent IS NOT NULL
        )
        SELECT \(columns)
        FROM (SELECT name FROM above LIMIT ?3) AS page
            LEFT JOIN record INDEXED BY record_name ON record.zone = ?2
                AND record.name = page.name AND record.deleted = 0
            LEFT JOIN shared_record ON shared_record.zone = record.zone
                AND shared_record.name = record.name AND \(HierarchyMembership.holds)
        """
    fileprivate static let named = """
        SELECT \(columns)
        FROM json_each(?1) AS wanted
            CROSS JOIN record INDEXED BY record_name ON record.zone = ?2 AND record.deleted = 0
                AND record.name = \(SQLList.text("wanted.value"))
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
    /// Since when a record is hidden that left; rows of before have no entry.
    private static let departed =
        "CASE WHEN shared_record.entry = 0 THEN shared_record.position ELSE shared_record.entry END"
    fileprivate static let departures = """
        SELECT shared_record.name, shared_record.share, \(departed) AS since
        FROM json_each(?1) AS wanted CROSS JOIN shared_record
        WHERE shared_record.zone = ?2 AND shared_record.left_at IS NOT NULL
            AND shared_record.name = \(SQLList.text("wanted.value"))
        UNION ALL
        SELECT earlier_departure.name, earlier_departure.share, earlier_departure.since
        FROM json_each(?1) AS wanted CROSS JOIN earlier_departure
        WHERE earlier_departure.zone = ?2
            AND earlier_departure.name = \(SQLList.text("wanted.value"))
        ORDER BY since
        """
    private static let columns = """
        SELECT \(StoredRecord.columns), shared_record.position, shared_record.left_at IS NOT NULL,
            \(departed)
        FROM shared_record INDEXED BY shared_record_history
            CROSS JOIN record INDEXED BY record_name ON record.zone = shared_record.zone
                AND record.name = shared_record.name
        WHERE shared_record.zone = ? AND shared_record.share = ?
        """
    fileprivate static let forward =
        "\(columns) AND shared_record.position > ? ORDER BY shared_record.position"
    fileprivate static let backward =
        "\(columns) AND shared_record.position < ? ORDER BY shared_record.position DESC"
    /// Those of a type among records, in the order of these.
    fileprivate static let ofType = """
        SELECT \(StoredRecord.columns) FROM json_each(?) AS wanted
            CROSS JOIN record INDEXED BY record_name ON record.zone = ?
                AND record.name = \(SQLList.text("wanted.value"))
        WHERE record.deleted = 0 AND record.type = ?
        """

    /// Reads a row; of a record that left, nothing of what it is now.
    fileprivate init(_ columns: Columns, of share: String) throws {
        self.init(
            share: share, position: try columns.value(14), record: try StoredRecord(columns))
        if columns.bool(15) {
            self = leaving
            hiddenSince = try columns.value(16)
        }
    }
}
