// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What became of one match when its change was notified.
package struct NotifiedMatch: Sendable, Hashable {
    /// The outbox entry.
    package var change: OutboxEntryID
    package var user: UserID
    package var subscriptionID: String
    /// The record that fired a query subscription; nil for the other kinds.
    package var recordName: String?
    /// The notification that reports it, its own or the one it was merged into.
    package var notificationID: String
    package var sequence: NotificationSequence
    /// Whether a later change of the same batch is reported by that notification
    /// too, and this one with it (PUSH-2).
    package var isMerged: Bool
    /// By what a newer notification replaces it in the log.
    package var collapseID: CollapseID?
    package var isBackground: Bool
    /// Bytes of the payload.
    package var payloadSize: Int
    /// The properties that pruning took away (PRUNE-4).
    package var pruned: [String]
    /// Whether the subscription was used up by it (SUB-19).
    package var isLast: Bool

    package init(
        change: OutboxEntryID,
        user: UserID,
        subscriptionID: String,
        recordName: String?,
        notificationID: String,
        sequence: NotificationSequence,
        isMerged: Bool = false,
        collapseID: CollapseID? = nil,
        isBackground: Bool,
        payloadSize: Int,
        pruned: [String] = [],
        isLast: Bool = false
    ) {
        self.change = change
        self.user = user
        self.subscriptionID = subscriptionID
        self.recordName = recordName
        self.notificationID = notificationID
        self.sequence = sequence
        self.isMerged = isMerged
        self.collapseID = collapseID
        self.isBackground = isBackground
        self.payloadSize = payloadSize
        self.pruned = pruned
        self.isLast = isLast
    }
}

/// A change as it is kept for explanations.
package struct KeptChange: Sendable, Hashable {
    package var entry: OutboxEntry
    /// Whether the pipeline is done with it.
    package var isNotified: Bool
    /// Where it stands among all that are kept.
    package var cursor: KeptChangeCursor

    package init(entry: OutboxEntry, isNotified: Bool, cursor: KeptChangeCursor) {
        self.entry = entry
        self.isNotified = isNotified
        self.cursor = cursor
    }
}

/// Where a change stands among those that are kept of all databases: an engine's own text, which
/// only that engine reads.
package struct KeptChangeCursor: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Which kept changes are asked for; nil asks for all of a kind.
package struct KeptChangeQuery: Sendable, Hashable {
    package var container: String?
    package var environment: CloudEnvironment?
    package var scope: DatabaseScope?
    /// Whose private and shared databases; public ones always count.
    package var account: AccountID?
    package var zoneName: String?
    /// A record that changed.
    package var recordName: String?
    /// Only changes that come after this one, newest first.
    package var after: KeptChangeCursor?

    /// Asks for everything.
    package init() {}

    /// What ``OutboxEntry/Event/encoded`` of every change asked for contains: an engine
    /// compares bytes, and may return changes with them that are not meant.
    package var encodedEvent: [UInt8]? {
        recordName.map(OutboxEntry.Event.mention)
    }
}

/// How much is kept for explanations.
package struct ExplanationBounds: Sendable, Hashable {
    /// Changes, the newest.
    package var changes: Int
    /// Matches of changes, the newest.
    package var matches: Int
    /// Attempts of the routes, the newest.
    package var deliveries: Int

    package init(changes: Int, matches: Int, deliveries: Int) {
        self.changes = changes
        self.matches = matches
        self.deliveries = deliveries
    }
}

/// A device and since when the server knows it.
package struct RegisteredDevice: Sendable, Hashable {
    package var device: StoredDevice
    package var registeredAt: Instant

    package init(device: StoredDevice, registeredAt: Instant) {
        self.device = device
        self.registeredAt = registeredAt
    }
}
