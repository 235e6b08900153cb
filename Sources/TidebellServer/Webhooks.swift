// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellCore
import TidebellHTTP
package import TidebellScheduling
package import TidebellWebhooks
package import TidebellWire

/// Webhooks, as an operator sees them: the operations of `TidebellCore/Operator` on a store.
///
/// A running server notices every change within its poll interval.
package struct Webhooks: Sendable {
    private let store: any Store
    private let poster: any WebhookPoster
    private let time: Time
    private let randomness: Randomness

    /// Creates webhooks over a store.
    package init(
        store: any Store, poster: any WebhookPoster = HTTPWebhookPoster(),
        time: Time, randomness: Randomness
    ) {
        self.store = store
        self.poster = poster
        self.time = time
        self.randomness = randomness
    }

    /// Creates a webhook for what is pushed from now on, and returns it with the
    /// secret its receiver needs. What is not allowed fails with ``OperatorError``.
    package func add(
        for container: ContainerKey, url: String
    ) async throws -> (webhook: StoredWebhook, secret: String) {
        let now = time.now()
        let secret = WebhookSecret(bytes: randomness.makeBytes(WebhookSecret.byteCount))
        let webhook = try await store.write(.catalogue(container)) {
            try AddWebhook.run(
                for: container, url: url, secret: secret.bytes, at: now, in: $0
            )
        }
        return (webhook, secret.text)
    }

    /// Returns all webhooks, oldest first.
    package func list() async throws -> [ListWebhooks.Listed] {
        try await store.read { try ListWebhooks.run(in: $0) }
    }

    /// Removes a webhook.
    package func remove(_ id: WebhookID) async throws {
        let container = try await store.read { try $0.knownWebhook(id).container }
        try await store.write(.catalogue(container)) { try RemoveWebhook.run(id, in: $0) }
    }

    /// Enables a webhook that was disabled; it goes on where it stopped, as far
    /// as the log reaches back.
    package func enable(_ id: WebhookID) async throws {
        let container = try await store.read { try $0.knownWebhook(id).container }
        try await store.write(.catalogue(container)) { try EnableWebhook.run(id, in: $0) }
    }

    /// Posts a sample, once, and returns the status of the answer; a receiver
    /// that does not answer fails with ``OperatorError``.
    package func test(_ id: WebhookID) async throws -> Int {
        let webhook = try await store.read { try $0.knownWebhook(id) }
        let message = WebhookMessage(
            .sample(notificationID: randomness.makeUUID().uuidString.lowercased(), at: time.now()),
            kind: .test, for: webhook, at: time.now()
        )
        do {
            let timeout = WebhookConfiguration().requestTimeout
            return try await poster.post(message, to: webhook.url, within: timeout).status
        } catch {
            throw OperatorError("The receiver did not answer: \(error).")
        }
    }
}

extension WebhookItem {
    /// A push as no cloud makes one: of a user and a device that do not exist.
    fileprivate static func sample(notificationID: String, at now: Instant) -> WebhookItem {
        let user = "_" + String(repeating: "0", count: 32)
        var payload = WirePushPayload()
        payload.isContentAvailable = true
        payload.notificationID = notificationID
        let notification = StoredNotification(
            user: UserID(rawValue: 0), notificationID: notificationID,
            database: DatabaseID(rawValue: 0), subscriptionID: "sample", originClient: nil,
            payload: payload.encoded(), isBackground: true, collapseID: nil, createdAt: now
        )
        let device = DeviceTokens(user: UserID(rawValue: 0), clientID: "sample", tokens: [])
        return WebhookItem(notification: notification, user: user, devices: [device])
    }
}
