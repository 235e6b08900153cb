// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func appendOutbox(_ entries: [OutboxEntry]) throws {
        for entry in entries {
            try connection.run(
                """
                INSERT INTO outbox (database, zone_name, zone_owner, event, origin_user,
                    origin_client, committed_at, told_through, ends_zone)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                entry.database, entry.zoneName, entry.zoneOwner, JSONText(bytes: entry.event.json),
                entry.originUser, entry.originClient, entry.committedAt, entry.toldThrough,
                entry.endsZone
            )
            try queue(entry.database, from: connection.lastInsertedID)
            hasAppendedOutbox = true
        }
    }

    /// Puts a database at the end of the queue, unless it stands there.
    private func queue(_ database: DatabaseID, from entry: Int64) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO outbox_queue (database, done, turn) VALUES (?, ?, \(Self.lastTurn))
            """,
            database, entry - 1
        )
    }

    /// The turn after those of all databases in the queue.
    private static let lastTurn = "(SELECT ifnull(max(turn), 0) + 1 FROM outbox_queue)"

    func setToldThrough(_ serial: SubscriptionSerial, ofOutboxEntry id: Int64) throws {
        try connection.run("UPDATE outbox SET told_through = ? WHERE id = ?", serial, id)
        try connection.run(
            """
            UPDATE outbox_queue SET turn = \(Self.lastTurn)
            WHERE database = (SELECT database FROM outbox WHERE id = ?)
            """,
            id
        )
    }

    func markTold(upTo id: Int64, in database: DatabaseID, keeping: Bool) throws {
        if !keeping {
            // What was kept before, under another configuration, goes by age.
            try connection.run(
                """
                DELETE FROM outbox INDEXED BY outbox_database WHERE database = ?1 AND id <= ?2
                    AND id > (SELECT done FROM outbox_queue WHERE outbox_queue.database = ?1)
                """,
                database, id
            )
        }
        try connection.run(
            """
            UPDATE outbox_queue SET done = ?2, turn = \(Self.lastTurn)
            WHERE database = ?1 AND done < ?2
            """,
            database, id
        )
        try connection.run(
            """
            DELETE FROM outbox_queue WHERE database = ?1 AND NOT EXISTS (
                SELECT 1 FROM outbox INDEXED BY outbox_database
                WHERE outbox.database = ?1 AND outbox.id > outbox_queue.done
            )
            """,
            database
        )
    }

    func appendNotifications(
        _ notifications: [StoredNotification]
    ) throws -> [StoredNotification] {
        try notifications.map { notification in
            var notification = notification
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

    func registerDevice(
        clientID: String, user: UserID, container: ContainerKey, atMost limit: Int,
        at now: Instant
    ) throws -> StoredDevice {
        let known = try connection.first(
            StoredDevice.ofClient, clientID, container.container, container.environment,
            read: StoredDevice.init
        )
        if let known, known.user == user {
            try markDevicesSeen([known.key], at: now)
            return known
        }
        if let known { try removeDevice(known.key) }
        try trimDevices(of: user, to: limit - 1)
        let head = try notificationHead()
        try connection.run(
            """
            INSERT INTO device
                (user, container, environment, client_id, acknowledged, registered_at, seen_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            user, container.container, container.environment, clientID, head, now, now
        )
        return StoredDevice(
            key: DeviceKey(rawValue: connection.lastInsertedID), user: user, clientID: clientID,
            acknowledged: head
        )
    }

    func acknowledge(courierToken token: String, upTo sequence: NotificationSequence) throws {
        try connection.run(
            "UPDATE push_token_device SET given_out = ?1 WHERE token = ?2 AND given_out < ?1",
            sequence, token
        )
    }

    func acknowledge(_ device: DeviceKey, upTo sequence: NotificationSequence) throws {
        try connection.run(
            "UPDATE device SET acknowledged = ? WHERE key = ? AND acknowledged < ?",
            sequence, device, sequence
        )
    }

    /// Removes a device, and it from its push tokens (SUB-51).
    func removeDevice(_ device: DeviceKey) throws {
        hasEndedAccess = true
        try connection.run("DELETE FROM push_token_device WHERE device = ?", device)
        try connection.run("DELETE FROM device WHERE key = ?", device)
    }
}
