// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

extension SQLiteReading {
    package func queuedDatabases(limit: Int) throws -> [DatabaseID] {
        try connection.rows(
            "SELECT database FROM outbox_queue ORDER BY turn LIMIT ?", limit
        ) { try $0.value(0) }
    }

    package func outboxes(of databases: [DatabaseID], limit: Int) throws -> [DatabaseOutbox] {
        let queue: [(database: DatabaseID, version: OutboxVersion)] = try connection.rows(
            """
            SELECT database, done, turn FROM json_each(?) AS wanted
            CROSS JOIN outbox_queue ON outbox_queue.database = wanted.value ORDER BY wanted.key
            """,
            JSONText(databases.map(\.rawValue))
        ) { (try $0.value(0), OutboxVersion(done: $0.int(1), turn: $0.int(2))) }
        let share = max(1, limit / max(1, queue.count))
        return try queue.map { database, version in
            do {
                let entries = try entries(of: database, after: version.done, limit: share)
                return DatabaseOutbox(
                    database: database, version: version, entries: entries,
                    mayHaveMore: entries.count == share
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
        of database: DatabaseID, after done: Int64, limit: Int
    ) throws -> [OutboxEntry] {
        do {
            return try connection.rows(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit, read: OutboxEntry.init(_:)
            )
        } catch DatabaseError.SQLITE_CORRUPT {
            let ids = try connection.rows(
                """
                SELECT id FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, limit
            ) { $0.int(0) }
            return try ids.compactMap { try entry($0) }
        }
    }

    private func entry(_ id: Int64) throws -> OutboxEntry? {
        do {
            return try connection.first(
                "SELECT \(OutboxEntry.columns) FROM outbox WHERE id = ?", id,
                read: OutboxEntry.init(_:)
            )
        } catch DatabaseError.SQLITE_CORRUPT {
            // What stands before the event in the row is on a page of its own.
            return try connection.first(
                "SELECT id, database, zone_name, zone_owner FROM outbox WHERE id = ?", id,
                read: OutboxEntry.init(beginning:)
            )
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

extension OutboxEntry {
    /// What ``init(_:)`` reads.
    static let columns = """
        outbox.id, outbox.database, outbox.zone_name, outbox.zone_owner, outbox.event,
        outbox.origin_user, outbox.origin_client, outbox.committed_at, outbox.told_through
        """

    /// The condition that a row of the outbox is done.
    static let isTold = """
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
        // Why it cannot be read helps nobody: that it cannot is told.
        let event = try? OutboxEntry.Event(encoded: columns.bytes(4))
        self.init(
            id: columns.int(0),
            database: try columns.value(1),
            zoneName: columns.text(2),
            zoneOwner: columns.text(3),
            event: event ?? .records([]),
            originUser: columns.isNull(5) ? nil : try columns.value(5),
            originClient: columns.optionalText(6),
            committedAt: try columns.value(7),
            toldThrough: max(.start, try columns.value(8))
        )
        if event == nil { damage = .event }
    }
}
