// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func outboxes(limit: Int) throws -> [DatabaseOutbox] {
        let queue: [(database: DatabaseID, done: Int64)] = try connection.rows(
            "SELECT database, done FROM outbox_queue ORDER BY turn LIMIT ?", limit
        ) { (try $0.value(0), $0.int(1)) }
        let share = max(1, limit / max(1, queue.count))
        return try queue.map { database, done in
            let entries = try connection.rows(
                """
                SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_database
                WHERE database = ? AND id > ? ORDER BY id LIMIT ?
                """,
                database, done, share, read: OutboxEntry.init
            )
            return DatabaseOutbox(
                database: database, entries: entries, mayHaveMore: entries.count == share
            )
        }
    }

    package func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox id: Int64
    ) throws -> OutboxEntry? {
        try connection.first(
            """
            SELECT \(OutboxEntry.columns) FROM outbox INDEXED BY outbox_zone_end
            WHERE database = ? AND zone_name = ? AND id > ? AND ends_zone = 1
            ORDER BY id LIMIT 1
            """,
            database, zoneName, id, read: OutboxEntry.init
        )
    }

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

    package func notificationHead() throws -> NotificationSequence {
        // What was given last, even if retention has removed it since.
        try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'notification'") {
            try $0.value(0)
        } ?? .start
    }

    package func devices(of user: UserID) throws -> [StoredDevice] {
        try connection.rows(
            StoredDevice.ofUser, user, read: StoredDevice.init
        )
    }

    package func pushToken(
        courier: String, at now: Instant
    ) throws -> (token: StoredPushToken, devices: [StoredDevice])? {
        let token = try connection.first(
            StoredPushToken.withCourier, courier, read: StoredPushToken.init
        )
        guard let token else { return nil }
        let devices = try connection.rows(
            StoredDevice.withToken, now, token.token, read: StoredDevice.init
        )
        return (token, devices)
    }

    package func pushToken(_ token: String) throws -> StoredPushToken? {
        try connection.first(
            StoredPushToken.withToken, token, read: StoredPushToken.init
        )
    }
}

extension OutboxEntry {
    /// What ``init(_:)`` reads.
    static let columns = """
        outbox.id, outbox.database, outbox.zone_name, outbox.zone_owner, outbox.event,
        outbox.origin_user, outbox.origin_client, outbox.committed_at, outbox.told_through
        """

    /// The condition that a row of the outbox is done.
    static let isTold = """
        NOT EXISTS (
            SELECT 1 FROM outbox_queue
            WHERE outbox_queue.database = outbox.database AND outbox_queue.done < outbox.id
        )
        """

    /// Reads a row that begins with ``columns``.
    init(_ columns: Columns) throws {
        self.init(
            id: columns.int(0),
            database: try columns.value(1),
            zoneName: columns.text(2),
            zoneOwner: columns.text(3),
            event: try OutboxEntry.Event(json: columns.bytes(4)),
            originUser: columns.isNull(5) ? nil : try columns.value(5),
            originClient: columns.optionalText(6),
            committedAt: try columns.value(7),
            toldThrough: try columns.value(8)
        )
    }
}

extension StoredNotification {
    /// What ``init(_:)`` reads, in its order.
    static let columns = """
        sequence, user, notification_id, database, subscription_id, origin_client, payload,
        background, collapse_id, created_at
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
    init(_ columns: Columns) throws {
        self.init(
            sequence: try columns.value(0),
            user: try columns.value(1),
            notificationID: columns.text(2),
            database: try columns.value(3),
            subscriptionID: columns.text(4),
            originClient: columns.optionalText(5),
            payload: columns.bytes(6),
            isBackground: columns.bool(7),
            collapseID: columns.optionalText(8).map(CollapseID.init(rawValue:)),
            createdAt: try columns.value(9)
        )
    }
}

extension StoredDevice {
    private static let columns =
        "device.key, device.user, device.client_id, device.acknowledged"
    fileprivate static let ofUser = "SELECT \(columns) FROM device WHERE user = ? ORDER BY key"
    /// The devices that a courier's token tells, each with the courier's position.
    fileprivate static let withToken = """
        SELECT device.key, device.user, device.client_id, push_token_device.given_out
        FROM push_token_device CROSS JOIN device ON device.key = push_token_device.device
        WHERE push_token_device.token = ?2 AND push_token_device.given_out IS NOT NULL
            AND \(Listener.mayHear(at: "?1"))
        ORDER BY device.key
        """
    /// The devices of a user, each with the moment of its registration.
    static let ofUserWithDate = """
        SELECT \(columns), device.registered_at FROM device WHERE user = ? ORDER BY key
        """
    /// The device of a client in a container.
    static let ofClient = """
        SELECT \(columns) FROM device
        WHERE client_id = ? AND container = ? AND environment = ?
        """

    /// Reads a row of a statement above.
    init(_ columns: Columns) throws {
        self.init(
            key: try columns.value(0),
            user: try columns.value(1),
            clientID: columns.text(2),
            acknowledged: try columns.value(3)
        )
    }
}

extension StoredPushToken {
    private static let columns = "token, apns_environment, courier, topic, registered_at"
    fileprivate static let withToken = "SELECT \(columns) FROM push_token WHERE token = ?"
    fileprivate static let withCourier = "SELECT \(columns) FROM push_token WHERE courier = ?"

    fileprivate init(_ columns: Columns) throws {
        self.init(
            token: columns.text(0),
            apnsEnvironment: try columns.value(1),
            courier: columns.optionalText(2),
            topic: columns.optionalText(3),
            registeredAt: try columns.value(4)
        )
    }
}
