// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteReading {
    package func outboxes(limit: Int) throws -> [DatabaseOutbox] {
        let queue: [(database: DatabaseID, done: Int64)] = try connection.rows(
            "SELECT database, done FROM outbox_queue ORDER BY turn LIMIT ?", limit
        ) { (try $0.value(0), $0.int(1)) }
        let share = max(1, limit / max(1, queue.count))
        return try queue.map { database, done in
            let entries = try connection.rows(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, share, read: OutboxEntry.init
            )
            return DatabaseOutbox(
                database: database, entries: entries, mayHaveMore: entries.count == share
            )
        }
    }

    package func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox id: Int64
    ) throws -> OutboxEntry? {
        try connection.first(
            """
            SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_zone_end
            WHERE database = ? AND zone_name = ? AND id > ? AND ends_zone = 1
            ORDER BY id LIMIT 1
            """,
            database, zoneName, id, read: OutboxEntry.init
        )
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

    /// Reads a row that begins with ``columns``.
    init(_ columns: Columns) throws {
        self.init(
            id: columns.int(0),
            database: try columns.value(1),
            zoneName: columns.text(2),
            zoneOwner: columns.text(3),
            event: try OutboxEntry.Event(encoded: columns.bytes(4)),
            originUser: columns.isNull(5) ? nil : try columns.value(5),
            originClient: columns.optionalText(6),
            committedAt: try columns.value(7),
            toldThrough: try columns.value(8)
        )
    }
}
