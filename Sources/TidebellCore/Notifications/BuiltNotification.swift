// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A match that is notified, with the older ones it stands for (PUSH-2).
package struct CoalescedMatch: Sendable, Hashable {
    package var match: SubscriptionMatch
    /// What the match replaces; nil is never replaced.
    package var collapseID: CollapseID?
    /// The matches that are not notified because this one is, oldest first.
    package var replaced: [SubscriptionMatch]

    package init(
        _ match: SubscriptionMatch, collapseID: CollapseID? = nil,
        replaced: [SubscriptionMatch] = []
    ) {
        self.match = match
        self.collapseID = collapseID
        self.replaced = replaced
    }

    /// Whether it counts up the user's badge (NINFO-11).
    package var countsBadge: Bool { match.subscription.countsBadge }
}

extension StoredSubscription {
    /// Whether its notifications count up their user's badge (NINFO-11).
    package var countsBadge: Bool { subscription.notificationInfo?.shouldBadge == true }
}

/// A notification as a pass made it, and how it came to be.
package struct BuiltNotification: Sendable, Hashable {
    /// What goes into the log.
    package private(set) var notification: StoredNotification
    /// The match that it notifies of.
    package let coalesced: CoalescedMatch
    /// What pruning took away, in the order it went (PRUNE-4).
    package private(set) var pruned: [PayloadProperty] = []
    /// Its payload before pruning.
    package private(set) var payload: WirePushPayload
    private let order: PruningOrder

    /// Encodes the notification of a match.
    ///
    /// - Parameters:
    ///   - payload: Its payload, before pruning.
    ///   - notificationID: A lower-case UUID, one for all devices (PUSH-7, PUSH-9).
    ///   - order: What pruning takes away first.
    package init(
        _ coalesced: CoalescedMatch, payload: WirePushPayload, notificationID: String,
        createdAt moment: Instant, pruning order: PruningOrder
    ) {
        let subscription = coalesced.match.subscription
        self.coalesced = coalesced
        self.payload = payload
        self.order = order
        notification = StoredNotification(
            user: subscription.user, notificationID: notificationID,
            database: subscription.database,
            subscriptionID: subscription.subscription.subscriptionID,
            originClient: coalesced.match.entry.originClient, payload: [],
            isBackground: coalesced.match.pushType == .background, collapseID: coalesced.collapseID,
            createdAt: moment
        )
        encode()
    }

    /// Carries this badge instead.
    package mutating func setBadge(_ badge: Int) {
        guard payload.badge != badge else { return }
        payload.badge = badge
        encode()
    }

    private mutating func encode() {
        let encoded = PayloadPruner.encoded(payload, order: order)
        notification.payload = encoded.bytes
        pruned = encoded.removed
        // NOTIF-8: what does not fit a push can be fetched.
        notification.fullPayload =
            encoded.isPruned
            ? PayloadPruner.encoded(payload, order: order, limit: PayloadPruner.historyLimit).bytes
            : nil
    }
}
