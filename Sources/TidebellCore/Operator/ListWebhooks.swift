// SPDX-License-Identifier: Apache-2.0

/// Lists webhooks.
package enum ListWebhooks {
    /// A webhook and how far it has come.
    package struct Listed: Sendable, Hashable {
        package var webhook: StoredWebhook
        /// Whether something in the log waits for it.
        package var isBehind: Bool
    }

    /// Returns all webhooks, oldest first.
    package static func run(in reader: some WebhookReading & DeliveryQueueReading) throws
        -> [Listed]
    {
        try reader.webhooks().map { webhook in
            let next = try reader.queuedDeliveries(in: .webhook(webhook.id), limit: 1)
            return Listed(webhook: webhook, isBehind: !next.isEmpty)
        }
    }
}
