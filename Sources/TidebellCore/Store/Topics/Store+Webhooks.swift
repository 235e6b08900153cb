// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The webhooks of containers.
package protocol WebhookReading {
    /// Returns all webhooks, oldest first.
    func webhooks() throws -> [StoredWebhook]

    /// Returns a webhook; nil when it was removed.
    func webhook(_ id: WebhookID) throws -> StoredWebhook?

    /// Returns the position in a user's log up to which the webhook has it all; nil where
    /// nothing of the user waits for it.
    func webhookCursor(_ id: WebhookID, of user: UserID) throws -> NotificationSequence?
}

/// Webhooks are made, move in the logs of users, and go.
package protocol WebhookWriting: WebhookReading {
    /// Creates a webhook. From then on, whoever is notified in its container stands in its
    /// queue.
    func createWebhook(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant
    ) throws -> StoredWebhook

    /// Removes a webhook; false if there was none.
    func removeWebhook(_ id: WebhookID) throws -> Bool

    /// Moves the webhook's cursor in a user's log forward, never back, and the user behind all
    /// others in its queue, or out of it where their log has nothing more. A cursor that is at
    /// `sequence` already stays, and the user goes behind all the same.
    func advanceWebhook(
        _ id: WebhookID, of user: UserID, upTo sequence: NotificationSequence
    ) throws

    /// Disables a webhook for a reason, or enables it with nil.
    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws
}
