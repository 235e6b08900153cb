// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Decides which subscriptions the changes of one batch fire.
///
/// Cost grows with the candidates and what they match, not with all
/// subscriptions.
package struct SubscriptionMatcher {
    /// The `firesOnce` subscriptions that matched: to be removed in the
    /// transaction that makes their notifications durable (SUB-19).
    package private(set) var consumed: [StoredSubscription] = []
    private var consumedKeys: Set<SubscriptionKey> = []
    /// What was prepared of candidates, for the next changes they are held against.
    private var prepared: [PreparedSubscription.Key: PreparedSubscription] = [:]

    /// How often a subscription was held against a change that is found by none of its filters.
    package private(set) var unindexed = 0
    /// What candidates may cost yet; when it is done, no further one is looked at.
    package private(set) var work: MatchingWork

    /// Creates a matcher for one batch.
    package init(work: MatchingWork = .unlimited) {
        self.work = work
    }

    /// What a change fires among some candidates.
    package struct Outcome: Sendable, Hashable {
        package var matches: [SubscriptionMatch]
        /// The last candidate that was looked at; nil when all were.
        package var notifiedThrough: SubscriptionSerial?
    }

    /// Returns what `entry` fires among `candidates`, in their order; a query
    /// subscription once for each record that matches, in the order of the
    /// records, the other kinds at most once (SUB-62).
    ///
    /// - Parameters:
    ///   - candidates: The subscriptions that the change may concern, in the order
    ///     of their serials; what ended with a deleted zone is among them.
    ///   - records: The records of the change, where they are decoded already.
    ///   - devices: The devices of the owners of `firesOnce` candidates.
    ///   - limit: After this many matches no further candidate is looked at.
    /// - Throws: `CancellationError` in a cancelled task.
    package mutating func matches(
        _ entry: OutboxEntry,
        candidates: [StoredSubscription],
        records: ChangedRecords? = nil,
        devices: [UserID: [StoredDevice]],
        limit: Int = .max
    ) throws -> Outcome {
        let records = records ?? ChangedRecords(entry.changes)
        // A batch holds the records of many changes at the same time.
        defer { for element in records.elements { element.view.forgetForms() } }
        let ended = Set(entry.endedSubscriptions.map(\.key))
        var matches: [SubscriptionMatch] = []
        for candidate in candidates {
            // SUB-65: what watches a new zone of the same name has not ended with
            // the old one.
            guard
                !entry.endsZone || candidate.subscription.kind == .database
                    || ended.contains(candidate.key)
            else { continue }
            matches += try self.matches(entry, candidate, records, devices)
            guard matches.count < limit, !work.isDone else {
                let isLast = candidate.serial == candidates.last?.serial
                return Outcome(matches: matches, notifiedThrough: isLast ? nil : candidate.serial)
            }
        }
        return Outcome(matches: matches, notifiedThrough: nil)
    }

    // MARK: -

    /// What the change fires of one candidate.
    private mutating func matches(
        _ entry: OutboxEntry, _ candidate: StoredSubscription, _ records: ChangedRecords,
        _ devices: [UserID: [StoredDevice]]
    ) throws -> [SubscriptionMatch] {
        let prepared = prepared(candidate)
        if prepared.terms.reasonAgainst != nil { unindexed += 1 }
        let causes = try causes(of: prepared, entry, records)
        guard let first = causes.first else { return [] }
        let isOnce = candidate.subscription.kind == .query && candidate.subscription.firesOnce
        guard !isOnce || consume(candidate, by: entry, devices) else { return [] }
        return (isOnce ? [first] : causes).map {
            SubscriptionMatch(subscription: candidate, entry: entry, cause: $0)
        }
    }

    /// A batch holds many changes against the same candidates: each is prepared once.
    private mutating func prepared(_ candidate: StoredSubscription) -> PreparedSubscription {
        // Preparing what has no filters costs less than looking it up.
        guard !candidate.subscription.filters.isEmpty else {
            return PreparedSubscription(candidate)
        }
        let key = PreparedSubscription.Key(candidate)
        if let known = prepared[key] { return known }
        let made = PreparedSubscription(candidate)
        prepared[key] = made
        return made
    }

    /// What of the change fires a subscription.
    private mutating func causes(
        of candidate: PreparedSubscription, _ entry: OutboxEntry, _ records: ChangedRecords
    ) throws -> [SubscriptionMatch.Cause] {
        try Task.checkCancellation()
        let subscription = candidate.subscription
        guard entry.damage == nil else {
            let verdict = subscription.verdict(onUnreadableChangeIn: entry.zoneName)
            return verdict == .fires ? [.zone] : []
        }
        let isCreated: Bool
        switch entry.event {
        case .records:
            var found: [SubscriptionMatch.Cause] = []
            for index in records.indices(concerning: candidate) {
                let element = records.elements[index]
                try Task.checkCancellation()
                work.take(candidate, element)
                guard candidate.verdict(on: element, inZone: entry.zoneName) == .fires else {
                    continue
                }
                guard subscription.kind == .query else { return [.zone] }
                found.append(.record(element.change))
            }
            return found
        case .zoneCreated: isCreated = true
        case .zoneDeleted: isCreated = false
        }
        let verdict = subscription.verdict(onZone: entry.zoneName, isCreated: isCreated)
        return verdict == .fires ? [.zone] : []
    }

    /// Whether a `firesOnce` subscription has its one event now.
    ///
    /// SUB-20: it counts events, not devices, and an event that no device is notified
    /// of (all are the origin, or there is none) does not count.
    private mutating func consume(
        _ candidate: StoredSubscription, by entry: OutboxEntry,
        _ devices: [UserID: [StoredDevice]]
    ) -> Bool {
        let isNotified = (devices[candidate.user] ?? []).contains {
            entry.originClient == nil || $0.clientID != entry.originClient
        }
        guard isNotified, consumedKeys.insert(candidate.key).inserted else { return false }
        consumed.append(candidate)
        return true
    }
}

extension OutboxEntry {
    /// The records that changed; none where the zone itself came or went.
    package var changes: [RecordChange] {
        if case .records(let changes) = event { changes } else { [] }
    }

    /// The subscriptions that ended with the zone.
    package var endedSubscriptions: [StoredSubscription] {
        if case .zoneDeleted(_, let subscriptions) = event { subscriptions } else { [] }
    }

    /// Whether the zone went.
    package var endsZone: Bool {
        if case .zoneDeleted = event { true } else { false }
    }
}
