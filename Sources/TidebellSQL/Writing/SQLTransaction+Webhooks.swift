// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook {
        hasQuietChange = true
        // The column `delivered` is of before there was a cursor for each user.
        try connection.run(
            """
            INSERT INTO webhook (container, environment, url, secret, delivered, created_at)
            VALUES (?, ?, ?, ?, 0, ?)
            """,
            container.container, container.environment, url, secret, now
        )
        return StoredWebhook(
            id: WebhookID(rawValue: connection.lastInsertedID), container: container, url: url,
            secret: secret, createdAt: now
        )
    }

    /// Makes a row for a webhook of which another database says where it leads: by it users wait in its queue here.
    package func putWebhookCopy(_ webhook: StoredWebhook) throws {
        hasQuietChange = true
        try connection.run(
            """
            INSERT OR IGNORE INTO webhook
                (id, container, environment, url, secret, delivered, created_at)
            VALUES (?, ?, ?, '', '', 0, ?)
            """,
            webhook.id, webhook.container.container, webhook.container.environment,
            webhook.createdAt
        )
    }

    package func removeWebhook(_ id: WebhookID) throws -> Bool {
        hasQuietChange = true
        try connection.run("DELETE FROM webhook_queue WHERE webhook = ?", id)
        let removed = try connection.rows(
            "DELETE FROM webhook WHERE id = ? RETURNING id", id
        ) { $0.int(0) }
        return !removed.isEmpty
    }

    package func advanceWebhook(
        _ id: WebhookID, to cursors: [UserID: NotificationSequence]
    ) throws -> Set<UserID> {
        let users = SQLList(cursors.keys.map(\.rawValue))
        let inOrder: [UserID] = try connection.rows(
            """
            SELECT user FROM webhook_queue
            WHERE webhook = ? AND user IN (SELECT wanted.value FROM json_each(?) AS wanted)
            ORDER BY turn, user
            """,
            id, users
        ) { try $0.value(0) }
        let moves = SQLList(columns: [
            .numbers(inOrder.map(\.rawValue)),
            .numbers(inOrder.map { cursors[$0]?.rawValue ?? 0 }),
            .numbers(inOrder.indices.map { Int64($0) + 1 }),
        ])
        try connection.run(
            """
            UPDATE webhook_queue
            SET delivered = max(delivered, wanted.value ->> 1),
                turn = wanted.value ->> 2
                    + (SELECT max(queue.turn) FROM webhook_queue AS queue WHERE queue.webhook = ?1)
            FROM json_each(?2) AS wanted
            WHERE webhook_queue.webhook = ?1 AND webhook_queue.user = wanted.value ->> 0
            """,
            id, moves
        )
        let done: [UserID] = try connection.rows(
            """
            DELETE FROM webhook_queue
            WHERE webhook = ?1 AND user IN (SELECT wanted.value FROM json_each(?2) AS wanted)
                AND NOT EXISTS (
                    SELECT 1 FROM notification WHERE notification.user = webhook_queue.user
                        AND notification.sequence > webhook_queue.delivered
                )
            RETURNING user
            """,
            id, users
        ) { try $0.value(0) }
        return Set(inOrder).subtracting(done)
    }

    /// Puts the users of notifications in the queues of the webhooks of their containers, where
    /// they do not wait, each from the first one on.
    package func queueForWebhooks(_ notifications: [StoredNotification]) throws {
        // Where there is none, as in most clouds, looking for each user's costs more than this.
        guard !notifications.isEmpty, try hasWebhooks() else { return }
        try connection.run(
            """
            INSERT OR IGNORE INTO webhook_queue (webhook, user, delivered, turn)
            SELECT webhook.id, user.id, wanted.value ->> 1, wanted.key + 1 + (
                SELECT ifnull(max(queue.turn), 0) FROM webhook_queue AS queue
                WHERE queue.webhook = webhook.id
            )
            FROM json_each(?) AS wanted CROSS JOIN user ON user.id = wanted.value ->> 0
                CROSS JOIN webhook ON webhook.container = user.container
                    AND webhook.environment = user.environment
            """,
            SQLList(beginningsOf: notifications)
        )
    }

    package func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws {
        hasQuietChange = true
        try connection.run("UPDATE webhook SET disabled_reason = ? WHERE id = ?", reason, id)
    }
}

extension SQLList {
    /// The users of notifications, each with the end of its log before the first one.
    fileprivate init(beginningsOf notifications: [StoredNotification]) {
        var known: Set<UserID> = []
        let first = notifications.filter { known.insert($0.user).inserted }
        self.init(first.map { ($0.user.rawValue, $0.sequence.rawValue - 1) })
    }
}
