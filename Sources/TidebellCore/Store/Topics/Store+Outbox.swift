// SPDX-License-Identifier: Apache-2.0

/// The outbox: the committed changes of which devices are still to be notified.
package protocol OutboxReading {
    /// Returns databases with pending changes, at most `limit`, in the order of their turns:
    /// those that were processed longest ago, or came first. Some may have none: they leave the
    /// queue when they are processed.
    func queuedDatabases(limit: Int) throws -> [DatabaseID]

    /// Returns the oldest outbox entries of databases, in their order, without those that have
    /// none. What is damaged is returned as such (``OutboxEntry/damage``), so that it holds up
    /// nothing else.
    ///
    /// At most `limit` entries, and `byteLimit` bytes of their events, of which each database
    /// has an equal share, so that nobody waits for the backlog of another. The first entry of
    /// all comes however long it is, the first of any other database where it fits in what is
    /// left. A database of which none fits comes without entries.
    func outboxes(
        of databases: [DatabaseID], limit: Int, byteLimit: Int
    ) throws -> [DatabaseOutbox]

    /// Returns the first entry of the database after a position that has the zone's
    /// deletion; nil when there is none.
    func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox position: OutboxPosition
    ) throws -> OutboxEntry?
}

extension OutboxReading {
    /// Returns the oldest outbox entries of the databases whose turn it is, whoever holds them.
    package func outboxes(limit: Int) throws -> [DatabaseOutbox] {
        try outboxes(of: queuedDatabases(limit: limit), limit: limit, byteLimit: .max)
    }
}

/// Changes are put into the outbox, and processed.
package protocol OutboxWriting: OutboxReading {
    /// Whether a pass still holds a database: nobody else claimed it since, and nothing of it
    /// was processed since its position in the queue was this one. Otherwise the caller drops its
    /// part.
    func holds(_ lease: OutboxLease, at version: OutboxVersion) throws -> Bool

    /// Appends entries; their positions are given by the store, in order in each database.
    func appendOutbox(_ entries: [OutboxEntry]) throws

    /// Stores how far an entry was processed (``OutboxEntry/notifiedThrough``); other databases
    /// that wait have their turn before this one's next. An entry that is set aside
    /// (``SubscriptionSerial/setAside``) is kept for ``OutboxEntry/setAsideRetention`` when it
    /// is done, whatever is kept of others.
    func setNotifiedThrough(
        _ serial: SubscriptionSerial, ofOutboxEntry id: OutboxEntryID
    ) throws

    /// Takes processed entries of a database out of its outbox; kept ones are
    /// found by ``ExplanationReading/keptChanges(_:limit:)`` until ``removeExplanations``. Other
    /// databases that wait have their turn before this one's next.
    func markNotified(
        upTo position: OutboxPosition, in database: DatabaseID, keeping: Bool
    ) throws
}
