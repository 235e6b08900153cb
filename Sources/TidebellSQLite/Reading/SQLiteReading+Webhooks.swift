// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func webhooks() throws -> [StoredWebhook] {
        try connection.rows(
            "SELECT \(StoredWebhook.columns) FROM webhook ORDER BY id", read: StoredWebhook.init
        )
    }

    package func webhook(_ id: WebhookID) throws -> StoredWebhook? {
        try connection.first(
            "SELECT \(StoredWebhook.columns) FROM webhook WHERE id = ?", id,
            read: StoredWebhook.init
        )
    }

    package func notifications(
        of container: ContainerKey, after sequence: NotificationSequence,
        upTo last: NotificationSequence, limit: Int
    ) throws -> [StoredNotification] {
        // The order of the tables is forced: a container can have more databases
        // than the range has notifications.
        try connection.rows(
            """
            SELECT \(StoredNotification.columns)
            FROM notification CROSS JOIN user ON user.id = notification.user
            WHERE sequence > ? AND sequence <= ? AND user.container = ? AND user.environment = ?
            ORDER BY sequence LIMIT ?
            """,
            sequence, last, container.container, container.environment, limit,
            read: StoredNotification.init
        )
    }

    package func devicesWithTokens(of users: Set<UserID>) throws -> [DeviceTokens] {
        guard !users.isEmpty else { return [] }
        var found: [DeviceTokens] = []
        try connection.each(
            """
            SELECT device.user, device.client_id, push_token.token, push_token.apns_environment,
                push_token.topic, push_token.registered_at
            FROM json_each(?) AS wanted CROSS JOIN device ON device.user = wanted.value
            LEFT JOIN push_token_device ON push_token_device.device = device.key
            LEFT JOIN push_token
                ON push_token.token = push_token_device.token AND push_token.courier IS NULL
            ORDER BY device.user, device.client_id, push_token.token
            """,
            JSONText(users.map(\.rawValue))
        ) { columns in
            let user: UserID = try columns.value(0)
            let clientID = columns.text(1)
            if found.last?.user != user || found.last?.clientID != clientID {
                found.append(DeviceTokens(user: user, clientID: clientID, tokens: []))
            }
            guard !columns.isNull(2) else { return true }
            found[found.count - 1].tokens.append(
                StoredPushToken(
                    token: columns.text(2), apnsEnvironment: try columns.value(3), courier: nil,
                    topic: columns.optionalText(4), registeredAt: try columns.value(5)
                )
            )
            return true
        }
        return found
    }
}

extension StoredWebhook {
    fileprivate static let columns = """
        id, container, environment, url, secret, delivered, created_at, disabled_reason
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: try columns.value(0),
            container: ContainerKey(
                container: columns.text(1), environment: try columns.value(2)
            ),
            url: columns.text(3),
            secret: columns.bytes(4),
            delivered: try columns.value(5),
            createdAt: try columns.value(6),
            disabledReason: columns.optionalText(7)
        )
    }
}
