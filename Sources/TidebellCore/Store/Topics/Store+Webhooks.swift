// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The webhooks of containers.
package protocol WebhookReading {
    /// Returns all webhooks, oldest first.
    func webhooks() throws -> [StoredWebhook]

    /// Returns a webhook; nil when it was removed.
    func webhook(_ id: WebhookID) throws -> StoredWebhook?
}

/// Webhooks are made, move in the log, and go.
package protocol WebhookWriting: WebhookReading {
    /// Creates a webhook that begins at the head of the log.
    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook

    /// Removes a webhook; false if there was none.
    func removeWebhook(_ id: WebhookID) throws -> Bool

    /// Moves the webhook's position in the log forward, never back.
    func advanceWebhook(_ id: WebhookID, upTo sequence: NotificationSequence) throws

    /// Disables a webhook for a reason, or enables it with nil.
    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws
}
