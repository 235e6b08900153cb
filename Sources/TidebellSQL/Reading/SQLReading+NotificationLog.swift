// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func notifications(
        for user: UserID, after sequence: NotificationSequence,
        excludingOrigin client: String?, limit: Int
    ) throws -> [StoredNotification] {
        guard let client else {
            return try connection.rows(
                StoredNotification.log, user, sequence, limit, read: StoredNotification.init
            )
        }
        return try connection.rows(
            StoredNotification.logWithoutOrigin, user, sequence, client, limit,
            read: StoredNotification.init
        )
    }

    package func notificationPosition(
        for user: UserID, after sequence: NotificationSequence,
        excludingOrigin client: String?, newest count: Int
    ) throws -> NotificationSequence? {
        guard let client else {
            return try connection.first(
                """
                SELECT sequence FROM notification WHERE user = ? AND sequence > ?
                ORDER BY sequence DESC LIMIT 1 OFFSET ?
                """,
                user, sequence, count - 1
            ) { try $0.value(0) }
        }
        return try connection.first(
            """
            SELECT sequence FROM notification
            WHERE user = ? AND sequence > ? AND origin_client IS NOT ?
            ORDER BY sequence DESC LIMIT 1 OFFSET ?
            """,
            user, sequence, client, count - 1
        ) { try $0.value(0) }
    }

    package func newestNotifications(
        of users: Set<UserID>
    ) throws -> [UserID: NotificationSequence] {
        let rows: [(UserID, NotificationSequence)?] = try connection.rows(
            """
            SELECT wanted.value, (SELECT max(sequence) FROM notification WHERE user = wanted.value)
            FROM json_each(?) AS wanted
            """,
            SQLList(users.map(\.rawValue).sorted())
        ) { $0.isNull(1) ? nil : (try $0.value(0), try $0.value(1)) }
        return Dictionary(rows.compactMap(\.self)) { first, _ in first }
    }

    package func notificationHead(of user: UserID) throws -> NotificationSequence {
        // One counter for all, which is what was given last even if retention has removed it.
        if let head = try ownNotificationHead(of: user) { return head }
        return try lastNotificationNumber()
    }

    /// The greatest number that a notification was given, even if retention has removed it since.
    package func lastNotificationNumber() throws -> NotificationSequence {
        NotificationSequence(rawValue: try connection.lastNumber(of: "notification"))
    }

    /// Where a user's log ends by its rows; nil where the counter shows it
    /// (``NotificationNumbers``).
    func ownNotificationHead(of user: UserID) throws -> NotificationSequence? {
        guard try connection.numbering().notifications != .shared else { return nil }
        return try connection.first(
            """
            SELECT max(
                ifnull((SELECT max(sequence) FROM notification WHERE user = ?1), 0),
                ifnull((SELECT max(read_place) FROM notification WHERE user = ?1), 0),
                ifnull((SELECT notification_floor FROM user WHERE id = ?1), 0),
                ifnull((SELECT notification_floor FROM store WHERE id = 1), 0)
            )
            """,
            user
        ) { try $0.value(0) }
    }

    package func notificationFloor(of user: UserID) throws -> NotificationSequence {
        try connection.first(
            """
            SELECT max(notification_floor,
                ifnull((SELECT notification_floor FROM user WHERE id = ?), 0))
            FROM store WHERE id = 1
            """,
            user
        ) { try $0.value(0) } ?? .start
    }

    package func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID] {
        try connection.rows(
            "SELECT user FROM notification GROUP BY user HAVING count(*) > ? LIMIT ?",
            count, limit
        ) { try $0.value(0) }
    }
}

extension StoredNotification {
    /// What ``init(_:)`` reads, in its order.
    package static let columns = """
        sequence, user, notification_id, database, subscription_id, origin_client, payload,
        full_payload, background, collapse_id, created_at
        """
    fileprivate static let log = """
        SELECT \(columns) FROM notification
        WHERE user = ? AND sequence > ? ORDER BY sequence LIMIT ?
        """
    fileprivate static let logWithoutOrigin = """
        SELECT \(columns) FROM notification
        WHERE user = ? AND sequence > ? AND origin_client IS NOT ?
        ORDER BY sequence LIMIT ?
        """

    /// Reads a row of ``columns``.
    package init(_ columns: Columns) throws {
        self.init(
            sequence: try columns.value(0),
            user: try columns.value(1),
            notificationID: columns.text(2),
            database: try columns.value(3),
            subscriptionID: columns.text(4),
            originClient: columns.optionalText(5),
            payload: columns.bytes(6),
            fullPayload: columns.optionalBytes(7),
            isBackground: columns.bool(8),
            collapseID: columns.optionalText(9).map(CollapseID.init(rawValue:)),
            createdAt: try columns.value(10)
        )
    }
}
