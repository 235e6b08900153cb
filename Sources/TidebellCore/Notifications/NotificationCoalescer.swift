// SPDX-License-Identifier: Apache-2.0

/// Merges what one batch would tell more than once (PUSH-2).
package enum NotificationCoalescer {
    /// Returns `matches` without those that a later one replaces, in their order.
    ///
    /// Background pushes of a zone or database subscription collapse into the
    /// newest of the same user, subscription and origin. The origin counts,
    /// because each origin leaves another device out: merging over it would leave
    /// out a device that has to be told. Query and visual pushes all remain.
    /// Collapse IDs that apps choose are a later issue.
    package static func coalesced(_ matches: [SubscriptionMatch]) -> [SubscriptionMatch] {
        var seen: Set<Place> = []
        var kept: [SubscriptionMatch] = []
        kept.reserveCapacity(matches.count)
        for match in matches.reversed() {
            let place = Place(match)
            if let place, !seen.insert(place).inserted { continue }
            kept.append(match)
        }
        kept.reverse()
        return kept
    }

    /// What only one notification can stand for.
    private struct Place: Hashable {
        var subscription: SubscriptionKey
        var origin: String?
        var collapseID: String

        init?(_ match: SubscriptionMatch) {
            guard let collapseID = match.collapseID else { return nil }
            subscription = match.subscription.key
            origin = match.entry.originClient
            self.collapseID = collapseID
        }
    }
}
