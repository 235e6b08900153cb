// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteTransaction {
    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook {
        hasQuietChange = true
        let head = try notificationHead()
        try connection.run(
            """
            INSERT INTO webhook (container, environment, url, secret, delivered, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            container.container, container.environment, url, secret, head, now
        )
        return StoredWebhook(
            id: WebhookID(rawValue: connection.lastInsertedID), container: container, url: url,
            secret: secret, delivered: head, createdAt: now
        )
    }

    func removeWebhook(_ id: WebhookID) throws -> Bool {
        hasQuietChange = true
        let removed = try connection.rows(
            "DELETE FROM webhook WHERE id = ? RETURNING id", id
        ) { $0.int(0) }
        return !removed.isEmpty
    }

    func advanceWebhook(_ id: WebhookID, upTo sequence: NotificationSequence) throws {
        try connection.run(
            "UPDATE webhook SET delivered = ? WHERE id = ? AND delivered < ?",
            sequence, id, sequence
        )
    }

    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws {
        hasQuietChange = true
        try connection.run("UPDATE webhook SET disabled_reason = ? WHERE id = ?", reason, id)
    }
}
