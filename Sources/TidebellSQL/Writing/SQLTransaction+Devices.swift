// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func registerDevice(
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
        hasQuietChange = true
        if let known { try removeDevice(known.key) }
        try trimDevices(of: user, to: limit - 1)
        let head = try notificationHead(of: user)
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

    package func acknowledge(_ device: DeviceKey, upTo sequence: NotificationSequence) throws {
        try connection.run(
            "UPDATE device SET acknowledged = ? WHERE key = ? AND acknowledged < ?",
            sequence, device, sequence
        )
    }

    package func markDevicesSeen(_ devices: [DeviceKey], at now: Instant) throws {
        for device in devices {
            try connection.run(
                "UPDATE device SET seen_at = ? WHERE key = ? AND seen_at <= ?",
                now, device, now.advanced(by: .zero - Self.precision)
            )
        }
    }

    package func removeDevice(clientID: String, of user: UserID) throws {
        let devices: [DeviceKey] = try connection.rows(
            "SELECT key FROM device WHERE user = ? AND client_id = ?", user, clientID
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
    }

    package func giveUp(clientID: String, pushToken token: String?, of user: UserID) throws {
        let devices: [DeviceKey] = try connection.rows(
            "SELECT key FROM device WHERE user = ? AND client_id = ?", user, clientID
        ) { try $0.value(0) }
        for device in devices { try removeDevice(device) }
        guard let token else { return }
        if try endPushToken(token, of: user) { hasEndedAccess = true }
    }

    /// Removes a device, and it from its push tokens (SUB-51).
    package func removeDevice(_ device: DeviceKey) throws {
        hasEndedAccess = true
        try connection.run("DELETE FROM push_token_device WHERE device = ?", device)
        try connection.run("DELETE FROM push_queue WHERE device = ?", device)
        try connection.run("DELETE FROM device WHERE key = ?", device)
    }

    /// How exactly it is known when a device was seen: a device that connects all
    /// day does not write all day.
    private static let precision = Duration.seconds(24 * 3600)

    package func removeDevices(unseenSince moment: Instant, limit: Int) throws -> Int {
        let devices: [DeviceKey] = try connection.rows(
            "SELECT key FROM device WHERE seen_at < ? ORDER BY seen_at LIMIT ?", moment, limit
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
        return devices.count
    }

    /// Removes a device, and the push tokens that reached nobody else.
    package func removeDeviceWithTokens(_ device: DeviceKey) throws {
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
    package func trimDevices(of user: UserID, to limit: Int) throws {
        let limit = max(0, limit)
        // Almost no user has so many, and to count them in the index is a small part of sorting them.
        let first: DeviceKey? = try connection.first(
            StoredDevice.beyond, user, limit
        ) { try $0.value(0) }
        guard first != nil else { return }
        let devices: [DeviceKey] = try connection.rows(
            """
            SELECT key FROM device WHERE user = ?
            ORDER BY seen_at DESC, key DESC LIMIT -1 OFFSET ?
            """,
            user, limit
        ) { try $0.value(0) }
        for device in devices { try removeDeviceWithTokens(device) }
    }
}
