// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    func putPushToken(
        _ token: StoredPushToken, notifying device: DeviceKey, in session: SessionID?
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
        try endPushToken(token.token, of: device, unlessReceivingAt: token.registeredAt)
        let head = try notificationHead()
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
        try connection.run(
            """
            DELETE FROM push_token_device
            WHERE token = ?2 AND device = ?3 AND NOT EXISTS (
                SELECT 1 FROM device
                WHERE device.key = push_token_device.device AND \(Listener.mayReceive(at: "?1"))
            )
            """,
            now, token, device
        )
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
                FROM push_token_device AS told
                    CROSS JOIN device AS other ON other.key = told.device
                    CROSS JOIN user AS theirs ON theirs.id = other.user
                    CROSS JOIN device AS own ON own.key = ?2
                    CROSS JOIN user AS mine ON mine.id = own.user
                WHERE told.token = ?1 AND theirs.account <> mine.account
            ) RETURNING device
            """,
            token, device
        ) { $0.int(0) }
        if !taken.isEmpty { hasEndedAccess = true }
    }

    /// Ends what a token delivers to other devices of the same container.
    private func takePushToken(_ token: String, fromOthersThan device: DeviceKey) throws {
        try connection.run(
            """
            DELETE FROM push_token_device
            WHERE token = ?1 AND device IN (
                SELECT other.key
                FROM push_token_device AS told
                    CROSS JOIN device AS other ON other.key = told.device
                    CROSS JOIN device AS own ON own.key = ?2
                WHERE told.token = ?1 AND other.key <> own.key
                    AND other.container = own.container AND other.environment = own.environment
            )
            """,
            token, device
        )
    }

    func acknowledge(courierToken token: String, upTo sequence: NotificationSequence) throws {
        try connection.run(
            "UPDATE push_token_device SET given_out = ?1 WHERE token = ?2 AND given_out < ?1",
            sequence, token
        )
    }

    func movePushTargets(_ cursors: [PushTargetKey: NotificationSequence]) throws {
        for (key, sequence) in cursors {
            try connection.run(
                """
                UPDATE push_token_device SET delivered = ?
                WHERE token = ? AND device = ? AND delivered < ?
                """,
                sequence, key.token, key.device, sequence
            )
        }
    }

    func removePushToken(_ token: String, registeredUpTo moment: Instant) throws -> Bool {
        guard let known = try pushToken(token) else { return true }
        guard known.registeredAt <= moment else { return false }
        hasQuietChange = true
        try connection.run("DELETE FROM push_token WHERE token = ?", token)
        try connection.run("DELETE FROM push_token_device WHERE token = ?", token)
        return true
    }

    func trimPushTokens(of user: UserID, to limit: Int) throws -> Int {
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
            try connection.run(
                """
                DELETE FROM push_token_device
                WHERE token = ? AND device IN (SELECT key FROM device WHERE user = ?)
                """,
                token, user
            )
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
