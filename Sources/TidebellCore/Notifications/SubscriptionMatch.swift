// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What makes a subscription one and the same (SUB-29).
package struct SubscriptionKey: Sendable, Hashable {
    package var database: DatabaseID
    package var user: UserID
    package var subscriptionID: ExactText

    package init(database: DatabaseID, user: UserID, subscriptionID: ExactText) {
        self.database = database
        self.user = user
        self.subscriptionID = subscriptionID
    }
}

extension StoredSubscription {
    /// The subscription's identity.
    package var key: SubscriptionKey {
        SubscriptionKey(
            database: database, user: user, subscriptionID: subscription.exactID
        )
    }
}

/// A subscription that a change fires, and why: one notification to be made.
package struct SubscriptionMatch: Sendable, Hashable {
    /// What fires it.
    package enum Cause: Sendable, Hashable {
        /// One record, of a query subscription.
        case record(RecordChange)
        /// Whatever happened to the zone, of the other kinds (SUB-62).
        case zone
    }

    package var subscription: StoredSubscription
    /// The change; notifications do not contain its origin (SUB-46).
    package var entry: OutboxEntry
    package var cause: Cause

    package init(subscription: StoredSubscription, entry: OutboxEntry, cause: Cause) {
        self.subscription = subscription
        self.entry = entry
        self.cause = cause
    }

    /// How the push asks to be delivered.
    package var pushType: PushType { PushType(subscription.subscription.notificationInfo) }
}

/// How a push asks Apple's service to deliver it (NINFO-24 to 27).
package enum PushType: String, Sendable, Hashable {
    /// Shows, sounds or badges something; needs the user's permission.
    case alert
    /// Wakes the app only; needs no permission (NINFO-28).
    case background

    /// Returns the type of the pushes an info configures; nil configures a push
    /// that displays nothing (SUB-68).
    package init(_ info: WireNotificationInfo?) {
        self = info?.isVisual == true ? .alert : .background
    }

    /// The header `apns-priority`.
    package var priority: Int { self == .alert ? 10 : 5 }
}

extension StoredNotification {
    /// How the push asks to be delivered.
    package var pushType: PushType { isBackground ? .background : .alert }
}
