// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putPushToken(
        _ token: StoredPushToken, notifying device: DeviceKey, in session: SessionID?
    ) throws {
        try putPushToken(
            token, notifying: device, in: session,
            ending: .unlessReceiving(at: token.registeredAt))
    }

    /// What ends of a token's earlier deliveries to a device.
    package enum EarlierDelivery: Sendable {
        /// All where the session has ended in which it was registered.
        case unlessReceiving(at: Instant)
        /// What it is, sessions being in another database, where it was looked up.
        case ended(Bool)
    }

    /// The same.
    package func putPushToken(
        _ token: StoredPushToken, notifying device: DeviceKey, in session: SessionID?,
        ending earlier: EarlierDelivery
    ) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO push_token (token, apns_environment, courier, topic, registered_at)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (token) DO UPDATE SET apns_environment = excluded.apns_environment,
                courier = excluded.courier, topic = excluded.topic,
                registered_at = excluded.registered_at
            """,
            token.token, token.apnsEnvironment, token.courier, token.topic, token.registeredAt
        )
        try takePushToken(token.token, fromOtherAccountsThanOf: device)
        if token.isNative { try takePushToken(token.token, fromOthersThan: device) }
        switch earlier {
        case .unlessReceiving(let now):
            try endPushToken(token.token, of: device, unlessReceivingAt: now)
        case .ended(true): try endPushToken(token.token, of: device)
        case .ended(false): break
        }
        let owner: UserID? = try connection.first("SELECT user FROM device WHERE key = ?", device) {
            try $0.value(0)
        }
        let head = try owner.map { try notificationHead(of: $0) } ?? .start
        try connection.run(
            """
            INSERT INTO push_token_device (token, device, delivered, given_out, session)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (token, device) DO UPDATE SET session = excluded.session
            """,
            token.token, device, token.isNative ? head : nil, token.isNative ? nil : head,
            session
        )
    }

    /// Ends what a token delivers to a device in a session that has ended: the next one gets
    /// nothing of what came between.
    private func endPushToken(
        _ token: String, of device: DeviceKey, unlessReceivingAt now: Instant
    ) throws {
        let ended = try connection.rows(
            """
            DELETE FROM push_token_device
            WHERE token = ?2 AND device = ?3 AND NOT EXISTS (
                SELECT 1 FROM device
                WHERE device.key = push_token_device.device AND \(Listener.mayReceive(at: "?1"))
            ) RETURNING device
            """,
            now, token, device
        ) { $0.int(0) }
        try unqueue(token, for: ended)
    }

    /// Ends what a token delivers to a device.
    private func endPushToken(_ token: String, of device: DeviceKey) throws {
        let ended = try connection.rows(
            "DELETE FROM push_token_device WHERE token = ? AND device = ? RETURNING device", token,
            device
        ) { $0.int(0) }
        try unqueue(token, for: ended)
    }

    /// Ends what a token delivers to devices of a user; returns whether it delivered anything.
    @discardableResult
    package func endPushToken(_ token: String, of user: UserID) throws -> Bool {
        let ended = try connection.rows(
            """
            DELETE FROM push_token_device
            WHERE token = ? AND device IN (SELECT key FROM device WHERE user = ?) RETURNING device
            """,
            token, user
        ) { $0.int(0) }
        try unqueue(token, for: ended)
        return !ended.isEmpty
    }

    /// Ends what a token delivers to devices of other accounts, in whatever container (SUB-51).
    private func takePushToken(
        _ token: String, fromOtherAccountsThanOf device: DeviceKey
    ) throws {
        let taken = try connection.rows(
            """
            DELETE FROM push_token_device
            WHERE token = ?1 AND device IN (
                SELECT other.key
                FROM push_token_device AS delivered
                    CROSS JOIN device AS other ON other.key = delivered.device
                    CROSS JOIN user AS theirs ON theirs.id = other.user
                    CROSS JOIN device AS own ON own.key = ?2
                    CROSS JOIN user AS mine ON mine.id = own.user
                WHERE delivered.token = ?1 AND theirs.account <> mine.account
            ) RETURNING device
            """,
            token, device
        ) { $0.int(0) }
        if !taken.isEmpty { hasEndedAccess = true }
        try unqueue(token, for: taken)
    }

    /// Ends what a token delivers to other devices of the same container.
    private func takePushToken(_ token: String, fromOthersThan device: DeviceKey) throws {
        let taken = try connection.rows(
            """
            DELETE FROM push_token_device
            WHERE token = ?1 AND device IN (
                SELECT other.key
                FROM push_token_device AS delivered
                    CROSS JOIN device AS other ON other.key = delivered.device
                    CROSS JOIN device AS own ON own.key = ?2
                WHERE delivered.token = ?1 AND other.key <> own.key
                    AND other.container = own.container AND other.environment = own.environment
            ) RETURNING device
            """,
            token, device
        ) { $0.int(0) }
        try unqueue(token, for: taken)
    }

    package func acknowledge(
        courierToken token: String, of user: UserID, upTo sequence: NotificationSequence
    ) throws {
        try connection.run(
            """
            UPDATE push_token_device SET given_out = ?1 WHERE token = ?2 AND given_out < ?1
                AND device IN (SELECT key FROM device WHERE user = ?3)
            """,
            sequence, token, user
        )
    }

    /// Takes targets out of the queue that are none any more: the token no longer reaches these
    /// devices.
    package func unqueue(_ token: String, for devices: [Int64]) throws {
        guard !devices.isEmpty else { return }
        try connection.run(
            """
            DELETE FROM push_queue
            WHERE token = ? AND device IN (SELECT wanted.value FROM json_each(?) AS wanted)
            """,
            token, SQLList(devices)
        )
    }

    /// Puts the native push tokens of the users of notifications in the queue, but not those of
    /// the origins.
    package func queuePushTargets(of notifications: [StoredNotification]) throws {
        guard !notifications.isEmpty, try hasPushTargets() else { return }
        try connection.run(
            """
            INSERT OR IGNORE INTO push_queue (device, token, container, environment)
            SELECT device.key, push_token_device.token, device.container, device.environment
            FROM json_each(?) AS wanted
                CROSS JOIN device ON device.user = wanted.value ->> 0
                    AND device.client_id IS NOT \(SQLList.text("wanted.value ->> 1"))
                CROSS JOIN push_token_device ON push_token_device.device = device.key
            WHERE push_token_device.delivered IS NOT NULL
            """,
            SQLList(origins: notifications)
        )
    }

    package func movePushTargets(_ cursors: [PushTargetKey: NotificationSequence]) throws {
        let moved = SQLList(cursors)
        let token = SQLList.text("wanted.value ->> 1")
        try connection.run(
            """
            UPDATE push_token_device SET delivered = wanted.value ->> 2
            FROM json_each(?) AS wanted
            WHERE push_token_device.device = wanted.value ->> 0
                AND push_token_device.token = \(token)
                AND push_token_device.delivered < wanted.value ->> 2
            """,
            moved
        )
        try connection.run(
            """
            DELETE FROM push_queue
            WHERE (device, token) IN (SELECT wanted.value ->> 0, \(token) FROM json_each(?) AS wanted)
                AND NOT EXISTS (
                    SELECT 1 FROM push_token_device
                        CROSS JOIN device ON device.key = push_token_device.device
                        CROSS JOIN notification ON notification.user = device.user
                            AND notification.sequence > push_token_device.delivered
                            AND notification.origin_client IS NOT device.client_id
                    WHERE push_token_device.token = push_queue.token
                        AND push_token_device.device = push_queue.device
                )
            """,
            moved
        )
    }

    package func withdrawPushTarget(_ key: PushTargetKey, at now: Instant) throws {
        try connection.run(
            """
            DELETE FROM push_queue WHERE token = ?2 AND device = ?3 AND NOT EXISTS (
                SELECT 1 FROM push_token_device
                    CROSS JOIN device ON device.key = push_token_device.device
                WHERE push_token_device.token = ?2 AND push_token_device.device = ?3
                    AND \(Listener.mayReceive(at: "?1"))
            )
            """,
            now, key.token, key.device
        )
    }

    package func removePushToken(_ token: String, registeredUpTo moment: Instant) throws -> Bool {
        guard let known = try pushToken(token) else { return true }
        guard known.registeredAt <= moment else { return false }
        hasQuietChange = true
        try connection.run("DELETE FROM push_token WHERE token = ?", token)
        let ended = try connection.rows(
            "DELETE FROM push_token_device WHERE token = ? RETURNING device", token
        ) { $0.int(0) }
        try unqueue(token, for: ended)
        return true
    }

    package func trimPushTokens(of user: UserID, to limit: Int) throws -> Int {
        let tokens = try connection.rows(
            """
            SELECT DISTINCT push_token.token, push_token.registered_at
            FROM device
                CROSS JOIN push_token_device ON push_token_device.device = device.key
                CROSS JOIN push_token ON push_token.token = push_token_device.token
            WHERE device.user = ?
            ORDER BY push_token.registered_at DESC, push_token.token LIMIT -1 OFFSET ?
            """,
            user, limit
        ) { $0.text(0) }
        if !tokens.isEmpty { hasEndedAccess = true }
        for token in tokens {
            try endPushToken(token, of: user)
            try connection.run(
                """
                DELETE FROM push_token WHERE token = ?1 AND NOT EXISTS (
                    SELECT 1 FROM push_token_device WHERE token = ?1
                )
                """,
                token
            )
        }
        return tokens.count
    }
}

extension SQLList {
    /// A list of pairs of user and origin, each once; of some there is no origin.
    fileprivate init(origins notifications: [StoredNotification]) {
        struct Origin: Hashable {
            var user: UserID
            var client: String?
        }
        let origins = Set(notifications.map { Origin(user: $0.user, client: $0.originClient) })
        self.init(columns: [
            .numbers(origins.map(\.user.rawValue)), .texts(origins.map(\.client)),
        ])
    }

    /// A list of device, token and sequence.
    fileprivate init(_ cursors: [PushTargetKey: NotificationSequence]) {
        self.init(columns: [
            .numbers(cursors.map(\.key.device.rawValue)), .texts(cursors.map(\.key.token)),
            .numbers(cursors.map(\.value.rawValue)),
        ])
    }
}
