// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

extension SQLiteReading {
    package func queuedDatabases(limit: Int) throws -> [DatabaseID] {
        try connection.rows(
            "SELECT database FROM outbox_queue ORDER BY turn LIMIT ?", limit
        ) { try $0.value(0) }
    }

    package func outboxes(
        of databases: [DatabaseID], limit: Int, byteLimit: Int
    ) throws -> [DatabaseOutbox] {
        let queue: [(database: DatabaseID, version: OutboxVersion)] = try connection.rows(
            """
            SELECT database, done, turn FROM json_each(?) AS wanted
            CROSS JOIN outbox_queue ON outbox_queue.database = wanted.value ORDER BY wanted.key
            """,
            JSONText(databases.map(\.rawValue))
        ) { (try $0.value(0), OutboxVersion(done: $0.int(1), turn: $0.int(2))) }
        let share = max(1, limit / max(1, queue.count))
        var bytes = EntryBytes(limit: byteLimit, share: byteLimit / max(1, queue.count))
        return try queue.map { database, version in
            do {
                let page = try entries(of: database, after: version.done, limit: share, bytes)
                bytes.take(page.bytes)
                return DatabaseOutbox(
                    database: database, version: version, entries: page.entries,
                    mayHaveMore: page.isCut || page.entries.count == share,
                    isCutByBytes: page.isCut
                )
            } catch DatabaseError.SQLITE_CORRUPT {
                return DatabaseOutbox(
                    database: database, version: version, entries: [], mayHaveMore: true,
                    isUnreadable: true
                )
            }
        }
    }

    /// Reads entries one by one where a page of one cannot be read, so that it is alone in
    /// that.
    private func entries(
        of database: DatabaseID, after done: Int64, limit: Int, _ bytes: EntryBytes
    ) throws -> EntryPage {
        do {
            var page = EntryPage()
            try connection.each(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit
            ) { try page.append($0, within: bytes) }
            return page
        } catch DatabaseError.SQLITE_CORRUPT {
            var page = EntryPage()
            let ids = try connection.rows(
                """
                SELECT id FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit
            ) { $0.int(0) }
            for id in ids where !page.isCut { try append(id, to: &page, within: bytes) }
            return page
        }
    }

    private func append(_ id: Int64, to page: inout EntryPage, within bytes: EntryBytes) throws {
        do {
            try connection.each(
                "SELECT \(OutboxEntry.columns) FROM outbox WHERE id = ?", id
            ) { try page.append($0, within: bytes) }
        } catch DatabaseError.SQLITE_CORRUPT {
            // What stands before the event in the row is on a page of its own.
            let entry = try connection.first(
                "SELECT id, database, zone_name, zone_owner FROM outbox WHERE id = ?", id,
                read: OutboxEntry.init(beginning:)
            )
            if let entry { page.entries.append(entry) }
        }
    }

    package func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox id: Int64
    ) throws -> OutboxEntry? {
        do {
            return try connection.first(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_zone_end
                WHERE database = ? AND zone_name = ? AND id > ? AND ends_zone = 1
                ORDER BY id LIMIT 1
                """,
                database, zoneName, id, read: OutboxEntry.init(_:)
            )
        } catch DatabaseError.SQLITE_CORRUPT {
            // What went with the zone stands on a page that cannot be read.
            return nil
        }
    }
}

/// Entries of one database.
private struct EntryPage {
    var entries: [OutboxEntry] = []
    /// The bytes of their events.
    var bytes = 0
    /// Whether the next one has too many.
    var isCut = false

    /// Reads one more from a row, unless it is too long; returns whether it did.
    mutating func append(_ columns: Columns, within limit: EntryBytes) throws -> Bool {
        let count = columns.byteCount(4)
        guard limit.allow(count, after: bytes) else {
            isCut = true
            return false
        }
        entries.append(try OutboxEntry(columns))
        bytes += count
        return true
    }
}

/// What is left of the bytes that entries may have, of which each database has a share.
private struct EntryBytes {
    private var left: Int
    private let share: Int
    private var isUntouched = true

    init(limit: Int, share: Int) {
        left = limit
        self.share = share
    }

    /// Whether a database of which so many bytes were read may have an entry of so many.
    func allow(_ count: Int, after read: Int) -> Bool {
        guard read > 0 else { return isUntouched || count <= left }
        return count <= min(left, share) - read
    }

    /// Takes those of a database away.
    mutating func take(_ count: Int) {
        guard count > 0 else { return }
        left -= count
        isUntouched = false
    }
}

extension OutboxEntry {
    /// What ``init(_:)`` reads.
    static let columns = """
        outbox.id, outbox.database, outbox.zone_name, outbox.zone_owner, outbox.event,
        outbox.origin_user, outbox.origin_client, outbox.committed_at, outbox.told_through,
        outbox.sharing
        """

    /// The condition that a row of the outbox is done.
    static let isNotified = """
        NOT EXISTS (
            SELECT 1 FROM outbox_queue
            WHERE outbox_queue.database = outbox.database AND outbox_queue.done < outbox.id
        )
        """

    /// Reads of a row what stands before its event.
    fileprivate init(beginning columns: Columns) throws {
        self.init(
            id: columns.int(0), database: try columns.value(1), zoneName: columns.text(2),
            zoneOwner: columns.text(3), event: .records([]), originUser: nil, originClient: nil,
            committedAt: Instant(rawValue: 0)
        )
        damage = .row
    }

    /// Reads a row that begins with ``columns``.
    init(_ columns: Columns) throws {
        // Why it cannot be read helps nobody: that it cannot is reported.
        let event = try? OutboxEntry.Event(encoded: columns.bytes(4))
        let sharing = columns.optionalBytes(9)
        self.init(
            id: columns.int(0),
            database: try columns.value(1),
            zoneName: columns.text(2),
            zoneOwner: columns.text(3),
            event: event ?? .records([]),
            sharing: sharing.flatMap { try? SharedChange(encoded: $0) },
            originUser: columns.isNull(5) ? nil : try columns.value(5),
            originClient: columns.optionalText(6),
            committedAt: try columns.value(7),
            notifiedThrough: max(.start, try columns.value(8))
        )
        if event == nil { damage = .event }
    }
}
