// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Adds a webhook: a URL that a container's notifications are posted to.
package enum AddWebhook {
    /// The most webhooks of one container and environment: `webhooksPerContainer` in the error.
    package static let mostPerContainer = 20

    /// Creates a webhook for what is pushed from now on; a URL or container that is not
    /// allowed fails, and so does one webhook too many.
    ///
    /// - Parameter secret: The key its requests are signed with.
    package static func run(
        for container: ContainerKey, url: String, secret: [UInt8], at now: Instant,
        in transaction: some WebhookWriting
    ) throws -> StoredWebhook {
        try WebhookURL.check(url)
        try container.check()
        let count = try transaction.webhooks().count { $0.container == container }
        guard count < mostPerContainer else {
            throw OperatorError(
                .tooMany, .container,
                "There are already \(count) webhooks for \(container.container) "
                    + "(webhooksPerContainer); remove one first."
            )
        }
        return try transaction.createWebhook(for: container, url: url, secret: secret, at: now)
    }
}

extension WebhookReading {
    /// Returns the webhook with this ID; an unknown one fails.
    package func knownWebhook(_ id: WebhookID) throws -> StoredWebhook {
        guard let webhook = try self.webhook(id) else { throw OperatorError.unknownWebhook(id) }
        return webhook
    }
}

extension OperatorError {
    static func unknownWebhook(_ id: WebhookID) -> OperatorError {
        OperatorError(
            .unknown, .webhook, "There is no webhook \(id.rawValue).", remedy: .listWebhooks
        )
    }
}
