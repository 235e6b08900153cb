// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func holds(_ lease: OutboxLease, at version: OutboxVersion) throws -> Bool {
        // What was claimed in memory may have been processed by a commit that a snapshot of before
        // does not show: the position in the queue knows.
        guard leases?.outboxes.holds(lease.key, lease.holder) == true else { return false }
        return try connection.first(
            "SELECT 1 FROM outbox_queue WHERE database = ? AND done = ? AND turn = ?",
            lease.key, try connection.numbering().outboxes.row(of: version.done, in: lease.key),
            version.turn
        ) { _ in true } ?? false
    }

    func appendOutbox(_ entries: [OutboxEntry]) throws {
        try connection.remembering { for entry in entries { try append(entry) } }
    }

    private func append(_ entry: OutboxEntry) throws {
        try connection.run(
            """
            INSERT INTO outbox (database, zone_name, zone_owner, event, origin_user,
                origin_client, committed_at, told_through, ends_zone, sharing)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            entry.database, entry.zoneName, entry.zoneOwner,
            JSONText(bytes: entry.event.encoded),
            entry.originUser, entry.originClient, entry.committedAt, entry.notifiedThrough,
            entry.endsZone, entry.sharing.map { JSONText(bytes: $0.encoded) }
        )
        try queue(entry.database, from: connection.lastInsertedID)
        hasAppendedOutbox = true
    }

    /// Puts a database at the end of the queue, unless it stands there.
    private func queue(_ database: DatabaseID, from entry: Int64) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO outbox_queue (database, done, turn) VALUES (?, ?, \(Self.lastTurn))
            """,
            database, entry - 1
        )
    }

    /// The turn after those of all databases in the queue.
    private static let lastTurn = "(SELECT ifnull(max(turn), 0) + 1 FROM outbox_queue)"

    func setNotifiedThrough(
        _ serial: SubscriptionSerial, ofOutboxEntry id: OutboxEntryID
    ) throws {
        try connection.run(
            "UPDATE outbox SET told_through = ? WHERE id = ?",
            serial, try connection.numbering().outboxes.row(of: id)
        )
        try connection.run(
            "UPDATE outbox_queue SET turn = \(Self.lastTurn) WHERE database = ?", id.database)
    }

    func markNotified(
        upTo position: OutboxPosition, in database: DatabaseID, keeping: Bool
    ) throws {
        let id = try connection.numbering().outboxes.row(of: position, in: database)
        if !keeping {
            // What was kept before, under another configuration, goes by age.
            try connection.run(
                """
                DELETE FROM outbox INDEXED BY outbox_database WHERE database = ?1 AND id <= ?2
                    AND told_through >= 0
                    AND id > (SELECT done FROM outbox_queue WHERE outbox_queue.database = ?1)
                """,
                database, id
            )
        }
        try connection.run(
            """
            DELETE FROM outbox_queue WHERE database = ?1 AND NOT EXISTS (
                SELECT 1 FROM outbox INDEXED BY outbox_database
                WHERE outbox.database = ?1 AND outbox.id > max(outbox_queue.done, ?2)
            )
            """,
            database, id
        )
        guard connection.changeCount == 0 else { return }
        try connection.run(
            """
            UPDATE outbox_queue SET done = ?2, turn = \(Self.lastTurn)
            WHERE database = ?1 AND done < ?2
            """,
            database, id
        )
    }
}
