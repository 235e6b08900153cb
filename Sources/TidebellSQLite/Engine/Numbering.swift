// SPDX-License-Identifier: Apache-2.0

/// How a store numbers what it keeps in order; the same for all its connections.
struct Numbering: Sendable {
    var notifications: NotificationNumbers
    var outboxes: OutboxNumbers

    /// Finds out how the store of a connection numbers, which was not told that.
    init(of connection: Connection) throws {
        notifications = try NotificationNumbers(of: connection)
        outboxes = try OutboxNumbers(of: connection)
    }

    init(notifications: NotificationNumbers, outboxes: OutboxNumbers) {
        self.notifications = notifications
        self.outboxes = outboxes
    }
}
