// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What a pass of the pipeline found when it read.
struct Snapshot {
    var subscriptions: [SubscriptionName: Subscription]
    /// The client IDs of each user's devices.
    var clients: [Int: Set<String>]
}

extension Model {
    /// What a pass that reads now finds.
    var snapshot: Snapshot {
        Snapshot(
            subscriptions: subscriptions,
            clients: Dictionary(grouping: devices.values, by: \.user)
                .mapValues { Set($0.map(\.client)) }
        )
    }

    /// Takes over what passes made of the changes they processed in full, and of those that
    /// they processed a part of, each the oldest of its database that is not complete,
    /// provided that they made all notifications that they had to, and no others.
    mutating func settle(
        _ notified: [Change], andParts parts: [Change], into rows: [Row], finding snapshot: Snapshot
    ) throws {
        var expected = Dictionary(
            grouping: expectations(notified, parts, snapshot), by: \.subscription.name
        )
        let found = Dictionary(grouping: rows, by: \.subscription)
        for name in Set(expected.keys).union(found.keys) {
            let open = expected.removeValue(forKey: name) ?? []
            let bound = try bind(found[name] ?? [], toSomeOf: open, of: name)
            try checkOnce(name, open, bound, snapshot)
            // A subscription is notified of all of a change, or of nothing yet.
            guard bound.contains(where: \.isPartial) else { continue }
            for part in open where part.isPartial {
                guard let index = pending.firstIndex(where: { $0.entry == part.change.entry })
                else { continue }
                pending[index].notified.insert(
                    Change.Part(subscription: part.subscription, fact: part.fact)
                )
            }
        }
        for row in rows {
            try count(row)
            if let key = row.replaceKey {
                for index in log.indices where log[index].replaceKey == key {
                    if log[index].state == .living { log[index].state = .replaced }
                }
            }
            log.append(row)
        }
    }

    /// Checks that a notification counts up its user's badge, or shows none.
    private mutating func count(_ row: Row) throws {
        guard let badge = row.push.badge else { return }
        let expected = badges[row.user, default: 0] + 1
        try demand(badge == expected, "a badge is \(badge), expected \(expected)")
        badges[row.user] = badge
    }

    // MARK: -

    /// A notification that could be made of a change.
    private struct Expectation {
        var subscription: Subscription
        var change: Change
        var fact: Fact?
        /// Grows with the order of notifications.
        var rank: Int
        /// Whether the change is processed in parts, of which this may be a later one.
        var isPartial: Bool
        /// Whether it must be notified, or may.
        var isDue: Bool

        var collapseID: CollapseID? { subscription.collapseID(of: fact) }

        func isNotified(by row: Row) -> Bool {
            let push = row.push
            return push.kind == subscription.trigger.kind && push.zone == change.home.zone
                && row.origin == change.origin
                && row.isBackground != subscription.style.showsSomething
                && (row.push.badge != nil) == subscription.style.countsBadge
                && (row.collapseID == collapseID || !isDue && subscription.style.collapses)
                && push.record == fact?.name && push.event == fact?.event
                && (push.version == nil || push.version == fact?.version)
        }
    }

    private func expectations(
        _ notified: [Change], _ parts: [Change], _ snapshot: Snapshot
    ) -> [Expectation] {
        var expectations: [Expectation] = []
        let changes = notified + parts
        for (index, change) in changes.enumerated() {
            let isPartial = index >= notified.count
            var subscriptions = Array(snapshot.subscriptions.values)
            // Those that go with the zone later may still be notified of this.
            for case .zoneDeleted(let ended) in (changes[index...].dropFirst() + pending)
                .filter({ $0.home == change.home }).map(\.event)
            {
                // One that went during the pass stands in the snapshot, too.
                subscriptions += ended.filter {
                    snapshot.subscriptions[$0.name]?.version != $0.version
                }
            }
            for subscription in subscriptions {
                let name = subscription.name
                let isDue =
                    change.due[name] == subscription.version
                    && snapshot.subscriptions[name]?.version == subscription.version
                expectations += subscription.facts(in: change).map { fact in
                    Expectation(
                        subscription: subscription, change: change, fact: fact,
                        rank: index * 1000 + (fact?.rank ?? 0), isPartial: isPartial,
                        isDue: isDue && !isPartial
                    )
                }
            }
            if case .zoneDeleted(let ended) = change.event {
                expectations += ended.filter(\.isNotifiedOfItsEnd).map { subscription in
                    Expectation(
                        subscription: subscription, change: change, rank: index * 1000,
                        isPartial: isPartial, isDue: !isPartial
                    )
                }
            }
        }
        return expectations.compactMap { expectation in
            let part = Change.Part(
                subscription: expectation.subscription, fact: expectation.fact
            )
            guard expectation.change.notified.contains(part) else { return expectation }
            // It may have been an earlier change that was notified then.
            guard expectation.collapseID != nil else { return nil }
            var again = expectation
            again.isDue = false
            return again
        }
    }

    /// Finds the changes of notifications. One that could be of the change before or
    /// of the part is of the part if it may replace the other.
    private func bind(
        _ rows: [Row], toSomeOf expectations: [Expectation], of name: SubscriptionName
    ) throws -> [Expectation] {
        let whole = expectations.filter { !$0.isPartial }
        let replaces = expectations.contains { $0.isPartial && $0.collapseID != nil }
        let choices = replaces ? [expectations, whole] : [whole, expectations]
        if let bound = try? bind(rows, to: choices[0], of: name) { return bound }
        return try bind(rows, to: choices[1], of: name)
    }

    /// Finds the change of each notification, from the newest: in commit order, all
    /// that is due unless a newer one stands for it.
    private func bind(
        _ rows: [Row], to expectations: [Expectation], of name: SubscriptionName
    ) throws -> [Expectation] {
        var open = expectations.sorted { $0.rank < $1.rank }
        var bound: [Expectation] = []
        var latest = Int.max
        for row in rows.reversed() {
            let index = open.lastIndex { $0.rank <= latest && $0.isNotified(by: row) }
            guard let index else {
                throw Violation("\(name) was notified wrongly, or at the wrong time: \(row.push)")
            }
            latest = open[index].rank
            bound.append(open.remove(at: index))
        }
        for lost in open where lost.isDue && !lost.subscription.trigger.firesOnce {
            let isReplaced =
                lost.collapseID != nil
                && bound.contains {
                    $0.rank >= lost.rank && $0.change.origin == lost.change.origin
                        && $0.collapseID == lost.collapseID
                }
            try demand(
                isReplaced,
                "\(name) was not notified of \(lost.fact.map { "\($0)" } ?? "zone \(lost.change.home)")"
            )
        }
        return bound
    }

    /// Checks that a subscription that fires once did so at its first event that
    /// any device is notified of, and removes it then (SUB-19, SUB-20).
    private mutating func checkOnce(
        _ name: SubscriptionName, _ expected: [Expectation], _ bound: [Expectation],
        _ snapshot: Snapshot
    ) throws {
        guard let subscription = snapshot.subscriptions[name], subscription.trigger.firesOnce
        else { return }
        let clients = snapshot.clients[name.user] ?? []
        let events = bound.filter { $0.subscription == subscription }
        try demand(events.count <= 1, "\(name) fires once, and fired \(events.count) times")
        let first = events.first?.rank ?? Int.max
        for other in expected where other.isDue && other.subscription == subscription {
            let hasListener = clients.contains { $0 != other.change.origin }
            try demand(
                !hasListener || other.rank >= first,
                "\(name) fires once, and missed its first event"
            )
        }
        guard !events.isEmpty, subscriptions[name]?.trigger == subscription.trigger else { return }
        subscriptions[name] = nil
    }
}
