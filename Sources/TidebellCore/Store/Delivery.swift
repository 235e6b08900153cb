// SPDX-License-Identifier: Apache-2.0

/// One attempt of a route to hand over a notification.
package struct Delivery: Sendable, Hashable {
    /// The ways to a device.
    package enum Route: String, Sendable, Hashable, CaseIterable {
        case stream, courier, apns, webhook
    }

    /// What a route answers that has handed a notification over, and learns nothing
    /// back.
    package static let sent = "sent"
    /// The answer of a device that has a notification and all before it.
    package static let acknowledged = "acknowledged"

    package var notification: NotificationSequence
    package var user: UserID
    /// The device; nil for a webhook, which stands for all of them.
    package var clientID: String?
    package var route: Route
    package var at: Instant
    /// What came of it, in words that need no explanation: `sent`,
    /// `acknowledged`, `200`, `410 Unregistered`, `connection refused`.
    package var answer: String

    package init(
        notification: NotificationSequence, user: UserID, clientID: String?, route: Route,
        at: Instant, answer: String
    ) {
        self.notification = notification
        self.user = user
        self.clientID = clientID
        self.route = route
        self.at = at
        self.answer = answer
    }
}
