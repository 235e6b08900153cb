// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Decides which subscriptions the changes of one batch fire.
///
/// Query subscriptions match by record type and event only: predicates other
/// than "always true" are refused when a subscription is saved, so every filter
/// met here is `[]`.
///
/// Cost grows with the candidates and what they match, not with all
/// subscriptions.
package struct SubscriptionMatcher {
    /// The `firesOnce` subscriptions that matched: to be removed in the
    /// transaction that makes their notifications durable (SUB-19).
    package private(set) var consumed: [StoredSubscription] = []
    private var consumedKeys: Set<SubscriptionKey> = []

    /// Creates a matcher for one batch.
    package init() {}

    /// Returns what `entry` fires among `candidates`, in their order; a query
    /// subscription once for each record that matches, in the order of the
    /// records, the other kinds at most once (SUB-62).
    ///
    /// - Parameters:
    ///   - candidates: What the store returns for the entry's database, zone and
    ///     record types. The subscriptions that ended with a zone come with the
    ///     entry itself.
    ///   - devices: The devices of the owners of `firesOnce` candidates.
    package mutating func matches(
        _ entry: OutboxEntry,
        candidates: [StoredSubscription],
        devices: [UserID: [StoredDevice]]
    ) -> [SubscriptionMatch] {
        switch entry.event {
        case .records(let changes):
            return matches(changes, of: entry, candidates: candidates, devices: devices)
        case .zoneCreated:
            return zoneMatches(entry, of: candidates, isCreated: true)
        case .zoneDeleted(_, let ended):
            // SUB-65: zone subscriptions end with their zone, told for the last time.
            let databases = candidates.filter { $0.subscription.kind == .database }
            return zoneMatches(entry, of: databases + ended, isCreated: false)
        }
    }

    // MARK: -

    private mutating func matches(
        _ changes: [RecordChange],
        of entry: OutboxEntry,
        candidates: [StoredSubscription],
        devices: [UserID: [StoredDevice]]
    ) -> [SubscriptionMatch] {
        // Not every candidate asks for every record: 200 records and a thousand
        // subscriptions would make 200,000 verdicts.
        let changesByType = Dictionary(grouping: changes, by: \.recordType)
        var matches: [SubscriptionMatch] = []
        for candidate in candidates {
            let subscription = candidate.subscription
            let concerned = subscription.recordType.map { changesByType[$0] ?? [] } ?? changes
            let told = concerned.lazy.filter {
                subscription.verdict(on: $0, inZone: entry.zoneName) == .fires
            }
            guard let first = told.first else { continue }
            guard subscription.kind == .query else {
                matches.append(
                    SubscriptionMatch(subscription: candidate, entry: entry, cause: .zone)
                )
                continue
            }
            guard subscription.firesOnce else {
                matches += told.map {
                    SubscriptionMatch(subscription: candidate, entry: entry, cause: .record($0))
                }
                continue
            }
            guard consume(candidate, by: entry, devices) else { continue }
            matches.append(
                SubscriptionMatch(subscription: candidate, entry: entry, cause: .record(first))
            )
        }
        return matches
    }

    /// What the beginning or the end of the zone fires.
    private func zoneMatches(
        _ entry: OutboxEntry, of subscriptions: [StoredSubscription], isCreated: Bool
    ) -> [SubscriptionMatch] {
        subscriptions.filter {
            $0.subscription.verdict(onZone: entry.zoneName, isCreated: isCreated) == .fires
        }.map {
            SubscriptionMatch(subscription: $0, entry: entry, cause: .zone)
        }
    }

    /// Whether a `firesOnce` subscription has its one event now.
    ///
    /// SUB-20: it counts events, not devices, and an event that no device is told
    /// of (all are the origin, or there is none) does not count.
    private mutating func consume(
        _ candidate: StoredSubscription, by entry: OutboxEntry,
        _ devices: [UserID: [StoredDevice]]
    ) -> Bool {
        let isTold = (devices[candidate.user] ?? []).contains {
            entry.originClient == nil || $0.clientID != entry.originClient
        }
        guard isTold, consumedKeys.insert(candidate.key).inserted else { return false }
        consumed.append(candidate)
        return true
    }
}
