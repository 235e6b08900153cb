// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// Databases that are in the queue though nothing of theirs is pending: their next change finds them
/// there, and does not write to it.
package enum IdleDatabases {
    /// One may stay where at most as many databases are in the queue: each claim looks at all of them.
    package static let maximumQueued: Int64 = 16
    /// One leaves when the outbox has had as many entries of others since.
    package static let entriesUntilRemoval: Int64 = 1000
}

extension SQLReading {
    package func queuedDatabases(limit: Int) throws -> [DatabaseID] {
        let last = try connection.lastNumberExpression(of: "outbox")
        let step = try connection.numberStepExpression(of: "outbox")
        do {
            return try connection.rows(
                """
                SELECT database FROM outbox_queue WHERE EXISTS (
                    SELECT 1 FROM outbox INDEXED BY outbox_database
                    WHERE outbox.database = outbox_queue.database AND outbox.id > outbox_queue.done
                ) OR done < \(last) - ? * \(step) ORDER BY turn LIMIT ?
                """,
                IdleDatabases.entriesUntilRemoval, limit
            ) { try $0.value(0) }
        } catch  where connection.isDamage(error) {
            // Which database has the damaged page shows when the changes of each are read: one that
            // has nothing pending may be held up by it, and no other.
            return try connection.rows(
                "SELECT database FROM outbox_queue ORDER BY turn LIMIT ?", limit
            ) { try $0.value(0) }
        }
    }

    package func outboxes(
        of databases: [DatabaseID], limit: Int, byteLimit: Int
    ) throws -> [DatabaseOutbox] {
        let queue: [(database: DatabaseID, done: Int64, turn: Int64)] = try connection.rows(
            """
            SELECT database, done, turn FROM json_each(?) AS wanted
            CROSS JOIN outbox_queue ON outbox_queue.database = wanted.value ORDER BY wanted.key
            """,
            SQLList(databases.map(\.rawValue))
        ) { (try $0.value(0), $0.int(1), $0.int(2)) }
        let share = max(1, limit / max(1, queue.count))
        var bytes = EntryBytes(limit: byteLimit, share: byteLimit / max(1, queue.count))
        let numbers = try connection.numbering().outboxes
        return try queue.map { database, done, turn in
            let version = OutboxVersion(
                done: numbers.position(ofRow: done, in: database), turn: turn)
            do {
                let page = try entries(of: database, after: done, limit: share, bytes)
                bytes.take(page.bytes)
                return DatabaseOutbox(
                    database: database, version: version, entries: page.entries,
                    mayHaveMore: page.isCut || page.entries.count == share,
                    isCutByBytes: page.isCut
                )
            } catch  where connection.isDamage(error) {
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
        let form = OutboxEntry.Form(
            database: database, numbers: try connection.numbering().outboxes)
        do {
            var page = EntryPage()
            try connection.each(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit
            ) { try page.append($0, as: form, within: bytes) }
            return page
        } catch  where connection.isDamage(error) {
            var page = EntryPage()
            let ids = try connection.rows(
                """
                SELECT id FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit
            ) { $0.int(0) }
            for id in ids where !page.isCut {
                try append(id, as: form, to: &page, within: bytes)
            }
            return page
        }
    }

    private func append(
        _ id: Int64, as form: OutboxEntry.Form, to page: inout EntryPage, within bytes: EntryBytes
    ) throws {
        do {
            try connection.each(
                "SELECT \(OutboxEntry.columns) FROM outbox WHERE id = ?", id
            ) { try page.append($0, as: form, within: bytes) }
        } catch  where connection.isDamage(error) {
            // What stands before the event in the row is on a page of its own.
            let entry = try connection.first(
                "SELECT id, zone_name, zone_owner FROM outbox WHERE id = ?", id
            ) { OutboxEntry(beginning: $0, as: form) }
            if let entry { page.entries.append(entry) }
        }
    }

    package func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox position: OutboxPosition
    ) throws -> OutboxEntry? {
        let form = OutboxEntry.Form(
            database: database, numbers: try connection.numbering().outboxes)
        do {
            return try connection.first(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_zone_end
                WHERE database = ? AND zone_name = ? AND id > ? AND ends_zone = 1
                ORDER BY id LIMIT 1
                """,
                database, zoneName, form.numbers.row(of: position, in: database)
            ) { try OutboxEntry($0, as: form) }
        } catch  where connection.isDamage(error) {
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
    mutating func append(
        _ columns: Columns, as form: OutboxEntry.Form, within limit: EntryBytes
    ) throws -> Bool {
        let count = columns.byteCount(3)
        guard limit.allow(count, after: bytes) else {
            isCut = true
            return false
        }
        entries.append(try OutboxEntry(columns, as: form))
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
    /// How a row becomes an entry: of which database, which its index knows where the row itself
    /// may be damaged.
    struct Form {
        var database: DatabaseID
        var numbers: OutboxNumbers
    }

    /// What ``init(_:as:)`` reads.
    package static let columns = """
        outbox.id, outbox.zone_name, outbox.zone_owner, outbox.event, outbox.origin_user,
        outbox.origin_client, outbox.committed_at, outbox.told_through, outbox.sharing
        """
    /// How many these are.
    package static let columnCount: Int32 = 9

    /// The condition that a row of the outbox is done.
    static let isNotified = """
        NOT EXISTS (
            SELECT 1 FROM outbox_queue
            WHERE outbox_queue.database = outbox.database AND outbox_queue.done < outbox.id
        )
        """

    /// Reads of a row what stands before its event.
    fileprivate init(beginning columns: Columns, as form: Form) {
        self.init(
            position: form.numbers.position(ofRow: columns.int(0), in: form.database),
            database: form.database, zoneName: columns.text(1), zoneOwner: columns.text(2),
            event: .records([]), originUser: nil, originClient: nil,
            committedAt: Instant(rawValue: 0)
        )
        damage = .row
    }

    /// Reads a row that begins with ``columns``.
    init(_ columns: Columns, as form: Form) throws {
        // Why it cannot be read helps nobody: that it cannot is reported.
        let event = try? OutboxEntry.Event(encoded: columns.bytes(3))
        let sharing = columns.optionalBytes(8)
        self.init(
            position: form.numbers.position(ofRow: columns.int(0), in: form.database),
            database: form.database,
            zoneName: columns.text(1),
            zoneOwner: columns.text(2),
            event: event ?? .records([]),
            sharing: sharing.flatMap { try? SharedChange(encoded: $0) },
            originUser: columns.isNull(4) ? nil : try columns.value(4),
            originClient: columns.optionalText(5),
            committedAt: try columns.value(6),
            notifiedThrough: max(.start, try columns.value(7))
        )
        if event == nil { damage = .event }
    }
}
