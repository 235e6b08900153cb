// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// How a store numbers what it keeps in order; the same for all its connections.
package struct Numbering: Sendable {
    package var notifications: NotificationNumbers
    package var outboxes: OutboxNumbers

    package init(notifications: NotificationNumbers, outboxes: OutboxNumbers) {
        self.notifications = notifications
        self.outboxes = outboxes
    }
}
