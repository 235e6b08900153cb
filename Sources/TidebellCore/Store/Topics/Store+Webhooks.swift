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

    /// Moves the webhook's cursors in the logs of users forward, never back. These users go
    /// behind all others in its queue, in their order, or out of it where their log has nothing
    /// more; those whose cursor stays go behind all the same. Returns who still stands in the
    /// queue; who did not is ignored.
    func advanceWebhook(
        _ id: WebhookID, to cursors: [UserID: NotificationSequence]
    ) throws -> Set<UserID>

    /// Disables a webhook for a reason, or enables it with nil.
    func setWebhook(_ id: WebhookID, disabledBecause reason: String?) throws
}
