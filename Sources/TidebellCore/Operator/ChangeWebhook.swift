// SPDX-License-Identifier: Apache-2.0

/// Removes a webhook.
package enum RemoveWebhook {
    /// Removes it; an unknown one fails.
    package static func run(_ id: WebhookID, in transaction: some WebhookWriting) throws {
        guard try transaction.removeWebhook(id) else { throw OperatorError.unknownWebhook(id) }
    }
}

/// Enables a webhook that was disabled.
package enum EnableWebhook {
    /// Enables it: it goes on where it stopped, as far as the log reaches back. An unknown one
    /// fails.
    package static func run(_ id: WebhookID, in transaction: some WebhookWriting) throws {
        _ = try transaction.knownWebhook(id)
        try transaction.setWebhook(id, disabledBecause: nil)
    }
}
