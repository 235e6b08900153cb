// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func holds(_ lease: OutboxLease, at version: OutboxVersion) throws -> Bool {
        // What was claimed may have been processed by a commit that a snapshot of before
        // does not show: the position in the queue knows.
        sendAhead { _ = try $0.isAt(version, lease.key) }
        return try isHeld(lease, at: version, by: leases)
    }

    package func appendOutbox(_ entries: [OutboxEntry]) throws {
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
        try queueForLastEntry(entry.database)
        hasAppendedOutbox = true
    }

    /// Puts the database of the entry that was inserted just now at the end of the queue, unless it is in it.
    private func queueForLastEntry(_ database: DatabaseID) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO outbox_queue (database, done, turn)
            VALUES (?, last_insert_rowid() - 1, \(Self.lastTurn))
            """,
            database
        )
    }

    /// The turn after those of all databases in the queue.
    private static let lastTurn = "(SELECT ifnull(max(turn), 0) + 1 FROM outbox_queue)"

    package func setNotifiedThrough(
        _ serial: SubscriptionSerial, ofOutboxEntry id: OutboxEntryID
    ) throws {
        try connection.run(
            "UPDATE outbox SET told_through = ? WHERE id = ?",
            serial, try connection.numbering().outboxes.row(of: id)
        )
        try connection.run(
            "UPDATE outbox_queue SET turn = \(Self.lastTurn) WHERE database = ?", id.database)
    }

    package func markNotified(
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
        try move(database, to: id)
    }

    /// Notes in the queue how far a database is processed, and puts it behind all others.
    ///
    /// One that has nothing pending any more may stay (``IdleDatabases``).
    private func move(_ database: DatabaseID, to entry: Int64) throws {
        sendAhead { ahead in
            _ = try ahead.pointer(of: database)
            _ = try ahead.hasEntry(after: entry, in: database)
            _ = try ahead.isQueueShort()
            _ = try ahead.isLast(database)
        }
        guard let done = try pointer(of: database) else { return }
        let hasMore = try hasEntry(after: max(done, entry), in: database)
        if !hasMore {
            guard done < entry, try isQueueShort() else {
                try connection.run("DELETE FROM outbox_queue WHERE database = ?", database)
                return
            }
        }
        guard done < entry else { return }
        // The last one has that turn already, and the index of turns is not written to.
        let newTurn = try isLast(database) ? "" : ", turn = \(Self.lastTurn)"
        try connection.run(
            "UPDATE outbox_queue SET done = ?2\(newTurn) WHERE database = ?1", database, entry)
    }
}

extension SQLReading {
    /// Whether nobody else was given a lease since, and the database stands in the queue as it was read.
    package func isHeld(
        _ lease: OutboxLease, at version: OutboxVersion, by leases: (any OutboxLeases)?
    ) throws -> Bool {
        guard try leases?.holds(lease, on: connection) == true else { return false }
        return try isAt(version, lease.key)
    }

    /// Whether a database stands in the queue as it was read.
    fileprivate func isAt(_ version: OutboxVersion, _ database: DatabaseID) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM outbox_queue WHERE database = ? AND done = ? AND turn = ?",
            database, try connection.numbering().outboxes.row(of: version.done, in: database),
            version.turn
        ) { _ in true } ?? false
    }

    /// How far a database of the queue is processed.
    fileprivate func pointer(of database: DatabaseID) throws -> Int64? {
        try connection.first("SELECT done FROM outbox_queue WHERE database = ?", database) {
            $0.int(0)
        }
    }

    fileprivate func hasEntry(after entry: Int64, in database: DatabaseID) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM outbox INDEXED BY outbox_database WHERE database = ? AND id > ? LIMIT 1
            """,
            database, entry
        ) { _ in true } ?? false
    }

    fileprivate func isQueueShort() throws -> Bool {
        try connection.first(
            "SELECT 1 FROM outbox_queue LIMIT 1 OFFSET ?", IdleDatabases.maximumQueued
        ) { _ in true } == nil
    }

    /// Whether a database is the last of the queue.
    fileprivate func isLast(_ database: DatabaseID) throws -> Bool {
        try connection.first(
            """
            SELECT 1 FROM outbox_queue
            WHERE turn > (SELECT turn FROM outbox_queue WHERE database = ?) LIMIT 1
            """,
            database
        ) { _ in true } == nil
    }
}
