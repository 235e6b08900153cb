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
