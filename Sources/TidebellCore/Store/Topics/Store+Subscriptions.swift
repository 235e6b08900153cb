// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Subscriptions, of one user or as a change finds them.
package protocol SubscriptionReading {
    /// Returns a user's subscriptions in a database, by ID; nil asks for all. What
    /// cannot be read any more is left out: ``subscriptionIDs(of:in:)`` knows of it.
    func subscriptions(
        _ ids: Set<ExactText>?,
        of user: UserID,
        in database: DatabaseID
    ) throws -> [StoredSubscription]

    /// Returns the IDs of all subscriptions of a user in a database, sorted byte by byte, also of
    /// those that cannot be read any more.
    func subscriptionIDs(of user: UserID, in database: DatabaseID) throws -> [ExactText]

    /// Returns what is to be known of all subscriptions of a user when one is saved;
    /// reads none of their contents.
    func subscriptionSummaries(
        of user: UserID, in database: DatabaseID
    ) throws -> [SubscriptionSummary]

    /// Returns outlines of the subscriptions of all users that a change in the zone can
    /// concern, those after `serial`, in the order of their serials, at most
    /// `limit`, each once: database kinds, those on the zone, and query kinds without zone or
    /// on it; of query kinds only those whose type and one of whose terms are a trigger's.
    ///
    /// Cost grows with what is returned and with the triggers, not with what
    /// exists; of a trigger of several terms, with all that have them.
    func subscriptionOutlines(
        in database: DatabaseID,
        zoneName: String,
        triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial,
        limit: Int
    ) throws -> [SubscriptionOutline]

    /// Returns of what families the terms are that query subscriptions of all users on a record
    /// type have, without zone or on this one; nil where they are more than `limit`.
    ///
    /// Cost grows with the families, not with what exists.
    func termFamilies(
        in database: DatabaseID, zoneName: String, recordType: String, limit: Int
    ) throws -> Set<TermFamily>?

    /// Reads subscriptions in the order of their serials, until one brings the bytes of
    /// their JSON to `byteLimit`; returns them with these bytes. What is gone is left out;
    /// what cannot be read any more is marked.
    func subscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int
    ) throws -> (
        subscriptions: [StoredSubscription], damaged: [SubscriptionSerial], bytes: Int
    )

    /// Returns all subscriptions in a database, of all users, in the order of their serials, with the
    /// bytes of their JSON; nil where they are more than `limit`, have `byteLimit` bytes or more, or
    /// one cannot be read any more.
    ///
    /// Cost grows with the limit, not with what exists.
    func allSubscriptions(
        in database: DatabaseID, limit: Int, byteLimit: Int
    ) throws -> (subscriptions: [StoredSubscription], bytes: Int)?

    /// Returns the query subscriptions of all databases of a container, those after `serial`, in the
    /// order of their serials, at most `limit`.
    func querySubscriptions(
        of container: ContainerKey, after serial: SubscriptionSerial, limit: Int
    ) throws -> [SubscriptionSerial]

    /// Returns who has subscriptions in a database, at most `limit`.
    func subscribers(in database: DatabaseID, limit: Int) throws -> [UserID]
}

/// Subscriptions are saved and removed.
package protocol SubscriptionWriting: SubscriptionReading {
    /// Inserts subscriptions, replacing the content of those with the same
    /// identity, which keep their serial, and keeps the database's
    /// ``StoredDatabase/subscriptionKinds`` true. The serials given are ignored.
    func putSubscriptions(_ subscriptions: [StoredSubscription]) throws

    /// Removes a user's subscriptions; IDs that do not exist are ignored.
    func removeSubscriptions(
        _ ids: Set<ExactText>, of user: UserID, in database: DatabaseID
    ) throws

    /// Removes zone subscriptions on the zone and query subscriptions limited to
    /// it, of all users (SUB-65), and returns them.
    func removeSubscriptions(
        onZone name: String, in database: DatabaseID
    ) throws -> [StoredSubscription]
}
