// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// What a pass is going to do to the store.
struct PassPlan {
    var matches: [SubscriptionMatch] = []
    /// What is notified of the matches.
    var coalesced: [CoalescedMatch] = []
    /// Decodes the fields of the changed records, once for all stages.
    var builder = NotificationBuilder()
    /// `firesOnce` subscriptions that are used up (SUB-19).
    var consumed: [StoredSubscription] = []
    /// The changes that are processed in full.
    private(set) var changes: [OutboxEntry] = []
    /// The newest of them of each database, in the order of the batch.
    private var lastEntries: [OutboxEntryID] = []
    /// The entry after it, where it has more subscribers than a pass takes,
    /// and how far it is processed.
    var unfinished: OutboxBatch.Progress?
    /// Whether how far can be noted with the entry.
    var isUnfinishedChangeable = true

    /// Those of the changes that could not be read.
    var damaged: [OutboxEntry] { changes.filter { $0.damage != nil } }

    /// The databases of which changes are processed.
    var touched: Set<DatabaseID> {
        var touched = Set(lastEntries.map(\.database))
        if let unfinished { touched.insert(unfinished.entry.database) }
        return touched
    }

    /// Notes that a change is processed in full.
    mutating func finish(_ entry: OutboxEntry) {
        changes.append(entry)
        if lastEntries.last?.database == entry.database { lastEntries.removeLast() }
        invariant(
            !lastEntries.contains { $0.database == entry.database },
            "the changes of a database stand together in a pass"
        )
        lastEntries.append(entry.id)
    }

    /// What of it is about some databases.
    func part(of databases: Set<DatabaseID>) -> PassPlan {
        guard !touched.isSubset(of: databases) else { return self }
        var part = self
        part.consumed.removeAll { !databases.contains($0.database) }
        part.changes.removeAll { !databases.contains($0.database) }
        part.lastEntries.removeAll { !databases.contains($0.database) }
        if let unfinished, !databases.contains(unfinished.entry.database) {
            part.unfinished = nil
            part.isUnfinishedChangeable = true
        }
        return part
    }

    /// What of it is about each database.
    func byDatabase() -> [DatabaseID: PassPlan] {
        var nothing = self
        (nothing.consumed, nothing.changes, nothing.lastEntries) = ([], [], [])
        (nothing.unfinished, nothing.isUnfinishedChangeable) = (nil, true)
        var parts: [DatabaseID: PassPlan] = [:]
        for subscription in consumed {
            parts[subscription.database, default: nothing].consumed.append(subscription)
        }
        for change in changes { parts[change.database, default: nothing].changes.append(change) }
        for last in lastEntries {
            parts[last.database, default: nothing].lastEntries.append(last)
        }
        if let unfinished {
            let database = unfinished.entry.database
            parts[database, default: nothing].unfinished = unfinished
            parts[database]?.isUnfinishedChangeable = isUnfinishedChangeable
        }
        return parts
    }

    /// Takes what is processed out of the outbox, and removes the subscriptions that are used up.
    func settle(in transaction: some OutboxWriting & SubscriptionWriting, keeping: Bool) throws {
        // A row that cannot be read cannot be removed either.
        let kept = Set(damaged.filter { $0.damage == .row }.map(\.database))
        for subscription in consumed { try subscription.remove(from: transaction) }
        for entry in damaged where entry.damage == .event {
            try transaction.setNotifiedThrough(.setAside, ofOutboxEntry: entry.id)
        }
        for last in lastEntries {
            try transaction.markNotified(
                upTo: last.position, in: last.database,
                keeping: keeping || kept.contains(last.database)
            )
        }
        if let unfinished, isUnfinishedChangeable {
            try transaction.setNotifiedThrough(
                unfinished.notifiedThrough, ofOutboxEntry: unfinished.entry)
        }
    }
}

/// What one pass came to.
enum PassOutcome {
    /// Nothing could be claimed; when the next database vests that others hold, or that failed.
    case nothing(Instant?)
    /// So many notifications were logged.
    case done(Int)
    /// Its databases are tried again later.
    case failed(any Error)
}

/// What passes came to, one after the other.
struct PassRound {
    /// How many notifications they logged.
    var notifications = 0
    /// The first error of a pass.
    var failure: (any Error)?
    /// Whether nothing more could be claimed.
    var isComplete = false
    /// When the next database vests that was passed over.
    var nextVesting: Instant?
}

/// What a pass has put into the log.
struct Logged: Sendable {
    var notifications: [StoredNotification] = []
    /// Where the logs of their users ended before.
    var ends: [UserID: NotificationSequence] = [:]
}

extension StoredSubscription {
    /// Removes the subscription unless it was saved anew since it was read.
    fileprivate func remove(from transaction: some SubscriptionWriting) throws {
        let id: Set = [subscription.exactID]
        guard try transaction.subscriptions(id, of: user, in: database) == [self] else { return }
        try transaction.removeSubscriptions(id, of: user, in: database)
    }
}
