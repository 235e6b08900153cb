// SPDX-License-Identifier: Apache-2.0

/// What is kept so that a push, or its absence, can be explained.
package protocol ExplanationReading {
    /// Returns kept changes, and pending ones, newest first: in each database as they were
    /// committed, those of several about so. Reads through all that is kept until it has found
    /// enough.
    func keptChanges(_ query: KeptChangeQuery, limit: Int) throws -> [KeptChange]

    /// Returns one of them; nil where it is not kept.
    func keptChange(_ id: OutboxEntryID) throws -> KeptChange?

    /// When the oldest change that is still kept was committed.
    func oldestKeptChange() throws -> Instant?

    /// Returns how a change was notified, to one user or to all.
    func notifiedMatches(
        of change: OutboxEntryID, to user: UserID?, limit: Int
    ) throws -> [NotifiedMatch]

    /// Returns the matches of kept changes that a notification reports. Reads through all that
    /// is kept.
    func notifiedMatches(notificationID: String, limit: Int) throws -> [NotifiedMatch]

    /// Returns what routes did about a notification, oldest first, and the first
    /// acknowledgement of each device that covers it.
    func deliveries(
        of notification: NotificationSequence, to user: UserID, limit: Int
    ) throws -> [Delivery]

    /// Returns the ID of the notification that replaced the one of `match` in the
    /// log (PUSH-2).
    func replacement(
        of match: NotifiedMatch, in database: DatabaseID, origin client: String?
    ) throws -> String?
}

/// What happened to a change is noted, and forgotten after a while.
package protocol ExplanationWriting: ExplanationReading {
    /// Replaces the event of an entry by a shorter account of it.
    func shorten(_ event: OutboxEntry.Event, of change: OutboxEntryID) throws

    /// Notes what became of matches.
    func appendNotifiedMatches(_ matches: [NotifiedMatch]) throws

    /// Notes what routes did.
    func appendDeliveries(_ deliveries: [Delivery]) throws

    /// Removes processed changes that were committed before `moment` or exceed the
    /// bounds, with all that is kept of them, oldest first; then deliveries
    /// likewise. At most about `limit` rows; returns at least `limit` when there
    /// may be more.
    func removeExplanations(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int
}
