// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What happened to changes on their way to pushes, and why: the answer to "where
/// is my push?".
package struct PushExplanation: Sendable, Hashable {
    /// What is asked for; nil asks for all of a kind.
    package struct Query: Sendable, Hashable {
        /// The most changes of one explanation.
        package static let mostChanges = 100

        package var container: String?
        package var environment: CloudEnvironment?
        package var scope: DatabaseScope?
        /// The account whose databases and subscriptions are meant.
        package var userName: String?
        package var zoneName: String?
        package var recordName: String?
        package var recordType: String?
        package var subscriptionID: String?
        package var notificationID: String?
        /// How many changes are explained, the newest; 1 to ``mostChanges``.
        package var last = 3

        /// Asks for the newest changes.
        package init() {}
    }

    /// The changes, newest first.
    package var changes: [ExplainedChange] = []
    /// Why nothing was found, and how to ask instead; sentences.
    package var hints: [String] = []
}

/// A rule as the reason of something: a clause, and the number of the behaviour it
/// follows.
package struct ExplainedRule: Sendable, Hashable {
    package var clause: String
    package var number: String?

    init(_ clause: String, _ number: String? = nil) {
        self.clause = clause
        self.number = number
    }
}

/// One request's change of one zone, and what it meant to each subscription.
package struct ExplainedChange: Sendable, Hashable {
    /// What happened to the zone.
    package enum Event: Sendable, Hashable {
        /// Records changed; the ones shown, and how many there were.
        case records([Record], count: Int)
        case zoneCreated
        case zoneDeleted(ZoneDeletionReason)
    }

    /// A record that changed.
    package struct Record: Sendable, Hashable {
        package var name: String
        package var type: String
        package var event: RecordEvent
    }

    /// The outbox entry.
    package var id: OutboxEntryID
    package var database: ExplainedDatabase
    package var zoneName: String
    package var event: Event
    package var committedAt: Instant
    /// The account that made the change; nil if removed or unknown.
    package var originUserName: String?
    /// The device that made it, by its client ID; it is not notified (SUB-46).
    package var originClient: String?
    /// Whether the pipeline is done with it.
    package var isNotified: Bool
    /// Those that fired first.
    package var subscriptions: [ExplainedSubscription] = []
    /// Whether there are more subscriptions than are listed.
    package var hasMoreSubscriptions = false
    /// Those it was shared with, of a change in a zone that its owner shares.
    package var participants: [ExplainedParticipant] = []
    /// Whether there are more of them than are listed.
    package var hasMoreParticipants = false
}

/// What a change of a shared zone was to one whom the zone is shared with, or was.
package struct ExplainedParticipant: Sendable, Hashable {
    /// What came of it.
    package enum Outcome: String, Sendable, Hashable {
        /// It was taken to their shared database.
        case taken
        /// It is to be taken there, but the pipeline has not come to it yet.
        case waiting
        /// It is nothing to them.
        case notTaken
    }

    /// Nil for a removed account.
    package var userName: String?
    /// What they have in their shared database, where only such subscriptions fire.
    package var subscriptionIDs: [String]
    package var outcome: Outcome
    package var rule: ExplainedRule
}

/// A database, with its owner's name.
package struct ExplainedDatabase: Sendable, Hashable {
    package var container: ContainerKey
    package var scope: DatabaseScope
    /// Nil for the public database and a removed account.
    package var ownerName: String?
}

/// A subscription's part in a change.
package struct ExplainedSubscription: Sendable, Hashable {
    /// What came of it.
    package enum Outcome: Sendable, Hashable {
        /// It fired, and these notifications report it.
        case notified([ExplainedNotification])
        /// It fires, but the pipeline has not come to the change yet.
        case waiting
        /// The rules leave it alone.
        case doesNotFire
        /// It fires by its present rules, but was not notified then.
        case missed
    }

    /// Nil for a removed account.
    package var userName: String?
    package var subscriptionID: String
    /// What it watches, in words; nil when it is gone.
    package var summary: String?
    /// That Apple refuses such a subscription, or that a desired key is of a type that no push carries, as a sentence;
    /// nil where neither is so.
    package var warning: String?
    /// That no index helps with its filters, and why, as a sentence; nil where one does.
    package var unindexed: String?
    /// Why it fired or not.
    package var rule: ExplainedRule
    package var outcome: Outcome
}

/// A notification and the ways it went.
package struct ExplainedNotification: Sendable, Hashable {
    package var notificationID: String
    /// The record it reports, of a query subscription.
    package var recordName: String?
    package var isBackground: Bool
    package var payloadSize: Int
    /// Properties that did not fit (PRUNE-4).
    package var pruned: [String]
    /// Whether a later change is reported by it as well (PUSH-2).
    package var isMerged: Bool
    /// The newer notification that replaced it in the log (PUSH-2).
    package var replacedBy: String?
    /// Whether the subscription was used up (SUB-19).
    package var isLast: Bool
    /// The user's devices.
    package var devices: [ExplainedDevice]
    /// Attempts that are of no device registered now.
    package var otherAttempts: [Delivery]
}

/// A device and what it was sent.
package struct ExplainedDevice: Sendable, Hashable {
    /// What stands beside the attempts.
    package enum State: Sendable, Hashable {
        /// It made the change (SUB-46).
        case origin
        /// Some route tried.
        case tried
        /// It has it, by what it acknowledged; no attempt is kept.
        case acknowledged
        /// It was registered after the change.
        case registeredLater(Instant)
        /// It has not asked for it yet; the log has it.
        case waiting
    }

    package var clientID: String
    package var state: State
    /// Oldest first.
    package var attempts: [Delivery]
}
