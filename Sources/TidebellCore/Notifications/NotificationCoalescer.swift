// SPDX-License-Identifier: Apache-2.0

/// Merges what one batch would notify of more than once (PUSH-2).
package enum NotificationCoalescer {
    /// Returns `matches` in their order, those that a later one replaces inside it.
    ///
    /// Matches of one user, database, subscription and origin with equal collapse
    /// IDs collapse into the newest. The origin counts, because each origin leaves
    /// another device out: merging over it would leave out a device that has to be
    /// notified. What has no collapse ID remains.
    ///
    /// - Parameter collapseID: The collapse ID of a match, asked once for each.
    package static func coalesced(
        _ matches: [SubscriptionMatch],
        collapseID: (SubscriptionMatch) -> CollapseID?
    ) -> [CoalescedMatch] {
        var indices: [ReplacementKey: Int] = [:]
        var kept: [CoalescedMatch] = []
        kept.reserveCapacity(matches.count)
        for match in matches.reversed() {
            let id = collapseID(match)
            if let id, let newest = indices.updateIfAbsent(ReplacementKey(match, id), kept.count) {
                kept[newest].replaced.append(match)
                continue
            }
            kept.append(CoalescedMatch(match, collapseID: id))
        }
        for index in indices.values { kept[index].replaced.reverse() }
        kept.reverse()
        return kept
    }

    /// What only one notification can stand for.
    private struct ReplacementKey: Hashable {
        var subscription: SubscriptionKey
        var origin: String?
        var collapseID: CollapseID

        init(_ match: SubscriptionMatch, _ collapseID: CollapseID) {
            subscription = match.subscription.key
            origin = match.entry.originClient
            self.collapseID = collapseID
        }
    }
}

extension Dictionary {
    /// Returns the value under `key`, or sets it and returns nil.
    fileprivate mutating func updateIfAbsent(_ key: Key, _ value: Value) -> Value? {
        if let known = self[key] { return known }
        self[key] = value
        return nil
    }
}
