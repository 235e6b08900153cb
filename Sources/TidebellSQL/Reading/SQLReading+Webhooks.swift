// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
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

    /// The webhooks that are told what each of the users is.
    package func webhooks(ofContainersOf users: Set<UserID>) throws -> [UserID: [WebhookID]] {
        guard !users.isEmpty else { return [:] }
        let found: [(UserID, WebhookID)] = try connection.rows(
            """
            SELECT user.id, webhook.id
            FROM json_each(?) AS wanted CROSS JOIN user ON user.id = wanted.value
                CROSS JOIN webhook ON webhook.container = user.container
                    AND webhook.environment = user.environment
            ORDER BY webhook.id
            """, SQLList(users.map(\.rawValue).sorted())
        ) { (try $0.value(0), try $0.value(1)) }
        return Dictionary(grouping: found, by: \.0).mapValues { $0.map(\.1) }
    }

    package func webhookCursor(
        _ id: WebhookID, of user: UserID
    ) throws -> NotificationSequence? {
        try connection.first(
            "SELECT delivered FROM webhook_queue WHERE webhook = ? AND user = ?", id, user
        ) { try $0.value(0) }
    }
}

extension StoredWebhook {
    fileprivate static let columns = """
        id, container, environment, url, secret, created_at, disabled_reason
        """

    fileprivate init(_ columns: Columns) throws {
        self.init(
            id: try columns.value(0),
            container: ContainerKey(
                container: columns.text(1), environment: try columns.value(2)
            ),
            url: columns.text(3),
            secret: columns.bytes(4),
            createdAt: try columns.value(5),
            disabledReason: columns.optionalText(6)
        )
    }
}
