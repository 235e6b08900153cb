// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// An account: a person who can sign in to this server.
package struct AccountID: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// An account's user in one container and environment (ACCT-5).
package struct UserID: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One sign-in of a device or page, or one token that the operator made: what is listed
/// and ended as one. Not secret.
package struct SessionID: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// One database: public, or somebody's private or shared one.
package struct DatabaseID: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// One incarnation of a zone: deleting a zone and creating it again under the
/// same name gives a new one, never used before in this store (TOK-22).
package struct ZoneKey: RawRepresentable, Sendable, Hashable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One device of one user.
package struct DeviceKey: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// The position of a change in its database's history; grows with every change and
/// is never used twice in a database, not even by a store that came back from an
/// older moment: it is never below the clock.
package struct Position: RawRepresentable, Sendable, Hashable, Comparable {
    /// Before the first change.
    package static let start = Position(rawValue: 0)

    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Position, right: Position) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Returns the position `distance` changes later.
    package func advanced(by distance: Int) -> Position {
        Position(rawValue: rawValue + Int64(distance))
    }

    /// The change tag of a record whose latest change stands here (SAVE-4).
    package var changeTag: String { String(rawValue, radix: 36) }
}

/// Where a change stands in the outbox of its database: grows in commit order. Those of two
/// databases have nothing to do with one another, and may be the same.
package struct OutboxPosition: RawRepresentable, Sendable, Hashable, Comparable {
    /// Before the first change.
    package static let start = OutboxPosition(rawValue: 0)

    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What names an outbox entry in its store. Has no order: only those of one database do.
package struct OutboxEntryID: Sendable, Hashable {
    package var database: DatabaseID
    package var position: OutboxPosition

    /// Creates an ID.
    package init(database: DatabaseID, position: OutboxPosition) {
        self.database = database
        self.position = position
    }
}

/// Where a record's latest change stands among those of several zones.
package struct RecordCursor: Sendable, Hashable {
    package var zone: ZoneKey
    package var position: Position

    /// Creates a cursor.
    package init(zone: ZoneKey, position: Position) {
        self.zone = zone
        self.position = position
    }
}

/// The position of a notification in the server's notification log.
package struct NotificationSequence: RawRepresentable, Sendable, Hashable, Comparable {
    /// Before the first notification.
    package static let start = NotificationSequence(rawValue: 0)

    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a subscription in its store: given once, kept while the
/// subscription is saved anew, and the order in which a change is notified.
package struct SubscriptionSerial: RawRepresentable, Sendable, Hashable, Comparable {
    /// Before the first subscription.
    package static let start = SubscriptionSerial(rawValue: 0)
    /// Stands for how far a damaged change was processed that is kept aside.
    package static let setAside = SubscriptionSerial(rawValue: -1)

    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A life of a store: begins when the store comes back from an older moment, and distinguishes
/// what is handed out from then on from what a lost life handed out.
///
/// Its value is the moment it began, so that lives that know nothing of one another
/// differ; the first one of every store is 0.
package struct Incarnation: RawRepresentable, Sendable, Hashable, Comparable {
    /// The life of a store that never came back from an older moment.
    package static let first = Incarnation(rawValue: 0)

    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Returns the one that begins at `now`, whatever the clock shows.
    package func next(at now: Instant) -> Incarnation {
        Incarnation(rawValue: max(rawValue + 1, now.rawValue))
    }
}

/// What a container's schema is known by: another one whenever something is added, and one
/// that no other content ever had or will have, be its transaction undone.
package struct SchemaRevision: RawRepresentable, Sendable, Hashable {
    /// The schema of a container that has not grown since revisions are kept.
    package static let first = SchemaRevision(rawValue: [])

    package let rawValue: [UInt8]
    package init(rawValue: [UInt8]) { self.rawValue = rawValue }
}

/// What names a database before it has an ID.
package struct DatabaseKey: Sendable, Hashable {
    package var container: ContainerKey
    package var scope: DatabaseScope
    /// The owner; nil for the public database.
    package var owner: UserID?

    /// Creates a key.
    package init(container: ContainerKey, scope: DatabaseScope, owner: UserID?) {
        self.container = container
        self.scope = scope
        self.owner = owner
    }
}
