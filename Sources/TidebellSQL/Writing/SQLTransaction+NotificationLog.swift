// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func appendNotifications(
        _ notifications: [StoredNotification], unlessAfter ends: [UserID: NotificationSequence]
    ) throws -> [StoredNotification] {
        var appended: [StoredNotification] = []
        // Of a log that ends where its caller saw it end nothing is looked for but what is here
        // twice: each look reads all that was appended before.
        let users = Set(notifications.map(\.user))
        sendAhead { ahead in
            _ = try ahead.newestNotifications(of: users)
            _ = try ahead.hasWebhooks()
            _ = try ahead.hasPushTargets()
        }
        let newest = try newestNotifications(of: users)
        var known: [UserID: [String: NotificationSequence]] = [:]
        for (user, own) in Dictionary(grouping: notifications, by: \.user) {
            let end = ends[user] ?? .start
            guard newest[user] ?? .start > end else { continue }
            known[user] = try notificationSequences(
                Set(own.map(\.notificationID)), of: user, after: end)
        }
        var ids: Set<String> = []
        var numbers = try numbersTakenAhead(notifications.count)[...]
        let all = try notifications.map { notification in
            var notification = notification
            let user = notification.user
            let isFirst = ids.insert(notification.notificationID).inserted
            let sequence =
                isFirst
                ? known[user]?[notification.notificationID]
                : try notificationSequences([notification.notificationID], of: user).values.first
            if let sequence {
                notification.sequence = sequence
                return notification
            }
            let own = try numbers.popFirst() ?? ownNumbers(1, of: user)?.first
            if notification.collapseID != nil { try removeReplaced(by: notification) }
            try connection.run(
                """
                INSERT INTO notification (user, notification_id, database, subscription_id,
                    origin_client, payload, full_payload, background, collapse_id, created_at
                    \(own == nil ? "" : ", sequence"))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?\(own == nil ? "" : ", ?"))
                """,
                values: [
                    user, notification.notificationID, notification.database,
                    notification.subscriptionID, notification.originClient, notification.payload,
                    notification.fullPayload, notification.isBackground, notification.collapseID,
                    notification.createdAt,
                ] + (own.map { [$0] } ?? [])
            )
            notification.sequence = NotificationSequence(
                rawValue: own ?? connection.lastInsertedID)
            lastNotification = max(lastNotification, notification.sequence)
            appended.append(notification)
            notifiedUsers.insert(user)
            return notification
        }
        try queueForWebhooks(appended)
        try queuePushTargets(of: appended)
        return all
    }

    /// So many numbers for notifications, where to ask which one each got would cost a wait; none elsewhere.
    private func numbersTakenAhead(_ count: Int) throws -> [Int64] {
        guard count > 0, try connection.numbering().notifications == .ahead else { return [] }
        return try connection.takeNumbers(count, of: "notification")
    }

    /// The next numbers of a user's log, in a store whose users have numbers of their own; nil
    /// where one counter gives them.
    package func ownNumbers(_ count: Int, of user: UserID) throws -> [Int64]? {
        guard try connection.numbering().notifications == .perUser,
            let head = try ownNotificationHead(of: user),
            let first = try connection.first(
                "SELECT \(NotificationNumbers.function)(?, ?)", user, head,
                read: { $0.int(0) }
            )
        else { return nil }
        // What is noted beside the store knows the greatest number of all only.
        hasQuietChange = true
        return (0..<Int64(count)).map { first + $0 * NotificationNumbers.step }
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

    package func removeNotifications(createdBefore moment: Instant, limit: Int) throws -> Int {
        let removed = try connection.rows(
            """
            DELETE FROM notification WHERE sequence IN (
                SELECT sequence FROM notification WHERE created_at < ?
                ORDER BY created_at LIMIT ?
            ) RETURNING user, sequence
            """,
            moment, limit
        ) { (try $0.value(0, as: UserID.self), $0.int(1)) }
        let floors = Dictionary(removed, uniquingKeysWith: max)
        try connection.run(
            """
            UPDATE user SET notification_floor = max(notification_floor, wanted.value ->> 1)
            FROM json_each(?) AS wanted WHERE user.id = wanted.value ->> 0
            """,
            SQLList(floors.map { ($0.rawValue, $1) })
        )
        return removed.count
    }

    package func trimNotifications(of user: UserID, to count: Int, limit: Int) throws -> Int {
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
