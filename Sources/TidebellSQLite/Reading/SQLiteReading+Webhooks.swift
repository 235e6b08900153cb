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

    package func webhookCursor(
        _ id: WebhookID, of user: UserID
    ) throws -> NotificationSequence? {
        try connection.first(
            "SELECT delivered FROM webhook_queue WHERE webhook = ? AND user = ?", id, user
        ) { try $0.value(0) }
    }

    package func queuedDeliveries(
        in queue: DeliveryQueue, limit: Int
    ) throws -> [DeliveryPointer] {
        switch queue {
        case .webhook(let id):
            try connection.rows(
                "SELECT user FROM webhook_queue WHERE webhook = ? ORDER BY turn, user LIMIT ?", id,
                limit
            ) { .webhook(id, try $0.value(0)) }
        case .pushTargets(let container):
            try connection.rows(
                """
                SELECT token, device FROM push_queue INDEXED BY push_queue_container
                WHERE container = ? AND environment = ? ORDER BY device, token LIMIT ?
                """,
                container.container, container.environment, limit
            ) {
                .pushTarget(
                    PushTargetKey(token: $0.text(0), device: try $0.value(1)), in: container
                )
            }
        }
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
