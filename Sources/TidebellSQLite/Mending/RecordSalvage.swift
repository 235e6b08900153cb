// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization
import TidebellCore
import TidebellSQL

/// Reads a table of records of which pages are damaged: every record that SQLite still
/// reaches, in the order of the table.
///
/// What is damaged fails more than itself. A search compares whole rows, so that it fails at
/// each row on its way of which the fields cannot be read; and nothing leads from a page to
/// the next one past a page that is lost. So this walks from row to row, which compares
/// nothing and reads no fields of rows that are known to fail; and where the way ends, it
/// searches for the next row of which another index knows.
final class RecordSalvage {
    /// Where a row stands.
    struct Key: Hashable, Comparable {
        var zone: Int64
        var position: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.zone, left.position) < (right.zone, right.position)
        }
    }

    /// A row as the index of names knows it.
    struct Entry {
        var key: Key
        var name: String
        /// Whether it does not stand in the order of its neighbours, so that one of them is
        /// not what was written.
        var isInDoubt = false

        fileprivate func precedes(_ other: Self) -> Bool {
            key.zone == other.key.zone
                ? name.utf8.lexicographicallyPrecedes(other.name.utf8)
                : key.zone < other.key.zone
        }
    }

    /// What becomes of one walk.
    private enum Walk {
        /// It came to the end of the table.
        case ended
        case stopped
        /// Something on its way cannot be read.
        case broken
    }

    /// How many of the last rows are remembered, to begin again at one of them.
    private static let remembered = 4096
    private static let unreadable = "tidebell_unreadable"

    private let connection: Connection
    private let keys = UnreadableKeys()
    /// The last rows of this walk.
    private var recent: [Key] = []
    private var failure: (any Error)?

    /// Creates a reader on a connection that is not in a transaction, or in one that only
    /// reads.
    init(_ connection: Connection) {
        self.connection = connection
        connection.database.add(
            function: DatabaseFunction(Self.unreadable, argumentCount: 2) { [keys] values in
                guard let zone = Int64.fromDatabaseValue(values[0]),
                    let position = Int64.fromDatabaseValue(values[1])
                else { return false }
                return keys.contains(Key(zone: zone, position: position))
            }
        )
    }

    /// Calls `body` with each record and its zone until it returns false; records of which
    /// the fields cannot be read are damaged. In what order they come is the table's, unless
    /// that is damaged too; a record may come twice then.
    func records(_ body: (StoredRecord, ZoneKey) throws -> Bool) throws {
        guard try walk(from: nil, body) == .broken else { return }
        var last = recent.last
        for key in try keysToSearch(after: last) where last.map({ $0 < key }) ?? true {
            recent = []
            var walk = try walk(from: key, body)
            if recent.isEmpty, walk == .broken { walk = try readOne(key, body) }
            last = recent.last ?? last
            guard walk == .broken else { return }
        }
    }

    /// Searches for one record, which a walk may have passed by, or met where it is damaged.
    func record(at key: Key) throws -> StoredRecord? {
        for rows in [Self.rows, Self.readableRows] {
            keys.insert(key)
            var record: StoredRecord?
            let isRead = try unlessUnreadable {
                try connection.each(
                    "\(rows) WHERE zone = ? AND position = ?", key.zone, key.position
                ) { columns in
                    record = try StoredRecord(columns)
                    return false
                }
            }
            if isRead { return record }
        }
        return nil
    }

    /// Calls `body` with each entry of the index of names that can be read, with some of them
    /// twice; returns whether these are all.
    func entries(_ body: (Entry) throws -> Void) throws -> Bool {
        if try entries("", precede: { $0.precedes($1) }, body) { return true }
        return try entries(" DESC", precede: { $1.precedes($0) }, body)
    }

    private func entries(
        _ order: String, precede: (Entry, Entry) -> Bool, _ body: (Entry) throws -> Void
    ) throws -> Bool {
        var last: Entry?
        let ended = try unlessUnreadable {
            try connection.each(
                """
                SELECT zone, position, name FROM record INDEXED BY record_name
                ORDER BY zone\(order), name\(order)
                """
            ) { columns in
                var entry = Entry(key: Self.key(of: columns, at: 0), name: columns.text(2))
                if var before = last {
                    entry.isInDoubt = !precede(before, entry)
                    before.isInDoubt = before.isInDoubt || entry.isInDoubt
                    try guarded { try body(before) }
                }
                last = entry
                return true
            }
        }
        if let last { try body(last) }
        return ended
    }

    /// Walks on from the first row that is not before `start`.
    private func walk(
        from start: Key?, _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws -> Walk {
        var (start, back) = (start, 1)
        var begun: Set<Key> = []
        while true {
            let before = recent.last
            let outcome = try pass(from: start, body)
            guard outcome == .broken else { return outcome }
            if let last = recent.last, last != before {
                (start, back) = (last, 1)
                // A row that stands twice is searched for at one offset, and what follows it there
                // is not what failed.
                if begun.insert(last).inserted { continue }
            }
            // It is this row's fields, or the search for the row to begin at, or the way on.
            let next = try rowAfterLast(from: start)
            if let key = next.key {
                keys.insert(key)
            } else if next.hasBegun || start == nil {
                return .broken
            } else if recent.isEmpty {
                return .broken
            } else if back < recent.count {
                back *= 2
                start = recent[max(0, recent.count - back)]
            } else {
                start = nil
            }
        }
    }

    /// Gives out a row that stands behind a lost page, on the one above it: a search that
    /// comes from its other side does not look into the lost one. Nothing leads on from there.
    private func readOne(
        _ key: Key, _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws -> Walk {
        var goesOn = true
        for _ in 0..<2 {
            let ended = try unlessUnreadable {
                try connection.each(
                    """
                    \(keys.isEmpty ? Self.rows : Self.readableRows)
                    WHERE (zone, position) <= (?, ?) ORDER BY zone DESC, position DESC
                    """,
                    key.zone, key.position
                ) { columns in
                    guard Self.key(of: columns, at: 14) == key else { return false }
                    let record = try StoredRecord(columns)
                    remember(key)
                    goesOn = try guarded { try body(record, ZoneKey(rawValue: key.zone)) }
                    return false
                }
            }
            if ended { break }
            keys.insert(key)
        }
        return goesOn ? .broken : .stopped
    }

    /// Gives out rows until one cannot be read.
    private func pass(
        from start: Key?, _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws -> Walk {
        var goesOn = true
        let last = recent.last
        var isBehindLast = last == nil
        let ended = try unlessUnreadable {
            try each(keys.isEmpty ? Self.rows : Self.readableRows, from: start) { columns in
                let key = Self.key(of: columns, at: 14)
                guard isBehindLast else {
                    isBehindLast = key == last
                    return true
                }
                let record = try StoredRecord(columns)
                remember(key)
                goesOn = try guarded { try body(record, ZoneKey(rawValue: key.zone)) }
                return goesOn
            }
        }
        // Where rows are not in order, a search for the last one may pass it by.
        guard ended, isBehindLast else { return .broken }
        return goesOn ? .ended : .stopped
    }

    /// Returns which row follows the last one that was given out, without reading its
    /// fields, and whether a search for the rows from `start` on came to that one at all.
    private func rowAfterLast(from start: Key?) throws -> (key: Key?, hasBegun: Bool) {
        var found: (key: Key?, hasBegun: Bool) = (nil, false)
        let last = recent.last
        var isBehindLast = last == nil
        _ = try unlessUnreadable {
            try each(Self.heads, from: start) { columns in
                let key = Self.key(of: columns, at: 12)
                found.hasBegun = found.hasBegun || isBehindLast || key == last
                guard isBehindLast else {
                    isBehindLast = key == last
                    return true
                }
                // Its head must be readable too: it stands before the fields.
                found.key = key
                return false
            }
        }
        // A row that fails though its fields are left out cannot be given out.
        if let key = found.key, keys.contains(key) { found = (nil, true) }
        return found
    }

    /// The keys at which a walk may begin again: those that the index of names knows, and
    /// those on the way back from the end of the table.
    private func keysToSearch(after last: Key?) throws -> [Key] {
        var found: Set<Key> = []
        _ = try entries { entry in
            if last.map({ $0 < entry.key }) ?? true { found.insert(entry.key) }
        }
        _ = try unlessUnreadable {
            try connection.each(
                "SELECT zone, position FROM record ORDER BY zone DESC, position DESC"
            ) { columns in
                let key = Self.key(of: columns, at: 0)
                guard last.map({ $0 < key }) ?? true else { return false }
                found.insert(key)
                return true
            }
        }
        return found.sorted()
    }

    private func remember(_ key: Key) {
        recent.append(key)
        if recent.count > 2 * Self.remembered { recent.removeFirst(Self.remembered) }
    }

    private func each(
        _ sql: String, from start: Key?, _ body: (Columns) throws -> Bool
    ) throws {
        let order = "ORDER BY zone, position"
        guard let start else { return try connection.each("\(sql) \(order)", body: body) }
        try connection.each(
            "\(sql) WHERE (zone, position) >= (?, ?) \(order)", start.zone, start.position,
            body: body
        )
    }

    /// Runs `body` of the caller: its failure is not one of reading.
    private func guarded<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            failure = error
            throw error
        }
    }

    /// Whether `read` came to its end; false where it met what cannot be read.
    private func unlessUnreadable(_ read: () throws -> Void) throws -> Bool {
        do {
            try read()
            return true
        } catch DatabaseError.SQLITE_CORRUPT where failure == nil {
            return false
        }
    }

    private static func key(of columns: Columns, at index: Int32) -> Key {
        Key(zone: columns.int(index), position: columns.int(index + 1))
    }

    private static let rows = "SELECT \(StoredRecord.columns), zone, position FROM record"
    /// ``rows`` without the fields of those that are known to fail.
    private static let readableRows = """
        SELECT \(StoredRecord.head),
            CASE WHEN \(unreadable)(zone, position) THEN NULL ELSE fields END,
            CASE WHEN \(unreadable)(zone, position) THEN NULL ELSE checksum END,
            zone, position
        FROM record
        """
    private static let heads = "SELECT \(StoredRecord.head), zone, position FROM record"
}

/// The rows of which the fields are known to be unreadable.
private final class UnreadableKeys: Sendable {
    private let keys = Mutex<Set<RecordSalvage.Key>>([])

    var isEmpty: Bool { keys.withLock { $0.isEmpty } }

    func contains(_ key: RecordSalvage.Key) -> Bool { keys.withLock { $0.contains(key) } }

    func insert(_ key: RecordSalvage.Key) { keys.withLock { _ = $0.insert(key) } }
}
