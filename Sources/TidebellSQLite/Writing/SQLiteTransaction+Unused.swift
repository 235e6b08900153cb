// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    /// How exactly it is known when a device was seen: a device that connects all
    /// day does not write all day.
    private static let precision = Duration.seconds(24 * 3600)

    func markDevicesSeen(_ devices: [DeviceKey], at now: Instant) throws {
        for device in devices {
            try connection.run(
                "UPDATE device SET seen_at = ? WHERE key = ? AND seen_at <= ?",
                now, device, now.advanced(by: .zero - Self.precision)
            )
        }
    }

    func removeDevices(unseenSince moment: Instant, limit: Int) throws -> Int {
        let devices: [DeviceKey] = try connection.rows(
            "SELECT key FROM device WHERE seen_at < ? ORDER BY seen_at LIMIT ?", moment, limit
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
        return devices.count
    }

    /// Removes a device, and the push tokens that told nobody else.
    func removeDeviceWithTokens(_ device: DeviceKey) throws {
        let tokens = try connection.rows(
            "SELECT token FROM push_token_device WHERE device = ?", device
        ) { $0.text(0) }
        try removeDevice(device)
        for token in tokens {
            try connection.run(
                """
                DELETE FROM push_token WHERE token = ?
                    AND NOT EXISTS (SELECT 1 FROM push_token_device AS left_over
                        WHERE left_over.token = push_token.token)
                """,
                token
            )
        }
    }

    /// Removes the devices of a user unused for longest until `limit` are left.
    func trimDevices(of user: UserID, to limit: Int) throws {
        let devices: [DeviceKey] = try connection.rows(
            """
            SELECT key FROM device WHERE user = ?
            ORDER BY seen_at DESC, key DESC LIMIT -1 OFFSET ?
            """,
            user, max(0, limit)
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
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
