// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    func appendNotifications(
        _ notifications: [StoredNotification], unlessAfter position: NotificationSequence
    ) throws -> [StoredNotification] {
        try notifications.map { notification in
            var notification = notification
            if let known = try sequence(of: notification, after: position) {
                notification.sequence = known
                return notification
            }
            if notification.collapseID != nil { try removeReplaced(by: notification) }
            try connection.run(
                """
                INSERT INTO notification (user, notification_id, database, subscription_id,
                    origin_client, payload, full_payload, background, collapse_id, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                notification.user, notification.notificationID, notification.database,
                notification.subscriptionID, notification.originClient, notification.payload,
                notification.fullPayload, notification.isBackground, notification.collapseID,
                notification.createdAt
            )
            notification.sequence = NotificationSequence(rawValue: connection.lastInsertedID)
            lastNotification = max(lastNotification, notification.sequence)
            return notification
        }
    }

    /// Where a notification stands already, after a position of the log.
    private func sequence(
        of notification: StoredNotification, after position: NotificationSequence
    ) throws -> NotificationSequence? {
        try connection.first(
            "SELECT sequence FROM notification WHERE user = ? AND sequence > ? AND notification_id = ?",
            notification.user, position, notification.notificationID
        ) { try $0.value(0) }
    }

    private func removeReplaced(by notification: StoredNotification) throws {
        try connection.run(
            """
            DELETE FROM notification
            WHERE user = ? AND database = ? AND subscription_id = ? AND collapse_id = ?
                AND origin_client IS ?
            """,
            notification.user, notification.database, notification.subscriptionID,
            notification.collapseID, notification.originClient
        )
    }

    func removeNotifications(createdBefore moment: Instant, limit: Int) throws -> Int {
        let removed = try connection.rows(
            """
            DELETE FROM notification WHERE sequence IN (
                SELECT sequence FROM notification WHERE created_at < ?
                ORDER BY created_at LIMIT ?
            ) RETURNING sequence
            """,
            moment, limit
        ) { $0.int(0) }
        if let last = removed.max() {
            try connection.run(
                """
                UPDATE store SET notification_floor = max(notification_floor, ?) WHERE id = 1
                """,
                last
            )
        }
        return removed.count
    }

    func trimNotifications(of user: UserID, to count: Int, limit: Int) throws -> Int {
        let oldestKept: NotificationSequence? = try connection.first(
            """
            SELECT sequence FROM notification WHERE user = ?
            ORDER BY sequence DESC LIMIT 1 OFFSET ?
            """,
            user, count - 1
        ) { try $0.value(0) }
        guard let oldestKept else { return 0 }
        let removed = try connection.rows(
            """
            DELETE FROM notification WHERE sequence IN (
                SELECT sequence FROM notification WHERE user = ? AND sequence < ?
                ORDER BY sequence LIMIT ?
            ) RETURNING sequence
            """,
            user, oldestKept, limit
        ) { $0.int(0) }
        if let last = removed.max() {
            try connection.run(
                "UPDATE user SET notification_floor = max(notification_floor, ?) WHERE id = ?",
                last, user
            )
        }
        return removed.count
    }
}
