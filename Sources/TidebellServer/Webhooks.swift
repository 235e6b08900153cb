// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellWebhooks
import TidebellWire

/// Webhooks, as an operator sees them.
///
/// A running server notices every change within its poll interval.
package struct Webhooks: Sendable {
    /// The longest URL of a receiver.
    package static let urlLength = 2048
    /// The most webhooks of one container and environment.
    package static let mostPerContainer = 20

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
    /// secret its receiver needs. What is not allowed fails with
    /// ``OperatorError``.
    package func add(
        for container: ContainerKey, url: String
    ) async throws -> (webhook: StoredWebhook, secret: String) {
        try Self.check(url)
        try Self.check(container: container.container)
        let now = time.now()
        let secret = WebhookSecret(bytes: randomness.makeBytes(WebhookSecret.byteCount))
        let webhook = try await store.write { transaction in
            let count = try transaction.webhooks().count { $0.container == container }
            guard count < Self.mostPerContainer else {
                throw OperatorError(
                    "There are already \(count) webhooks for \(container.container); "
                        + "remove one first."
                )
            }
            return try transaction.createWebhook(
                for: container, url: url, secret: secret.bytes, at: now
            )
        }
        return (webhook, secret.text)
    }

    /// A webhook and how far it has come.
    package struct Listed: Sendable, Hashable {
        package var webhook: StoredWebhook
        /// Whether something in the log waits for it.
        package var isBehind: Bool
    }

    /// Returns all webhooks, oldest first.
    package func list() async throws -> [Listed] {
        try await store.read { reader in
            let head = try reader.notificationHead()
            return try reader.webhooks().map { webhook in
                let next = try reader.notifications(
                    of: webhook.container, after: webhook.delivered, upTo: head, limit: 1
                )
                return Listed(webhook: webhook, isBehind: !next.isEmpty)
            }
        }
    }

    /// Removes a webhook.
    package func remove(_ id: WebhookID) async throws {
        let isRemoved = try await store.write { try $0.removeWebhook(id) }
        guard isRemoved else { throw Self.unknown(id) }
    }

    /// Enables a webhook that was disabled; it goes on where it stopped, as far
    /// as the log reaches back.
    package func enable(_ id: WebhookID) async throws {
        try await store.write { transaction in
            guard try transaction.webhook(id) != nil else { throw Self.unknown(id) }
            try transaction.setWebhook(id, disabledBecause: nil)
        }
    }

    /// Posts a sample, once, and returns the status of the answer; a receiver
    /// that does not answer fails with ``OperatorError``.
    package func test(_ id: WebhookID) async throws -> Int {
        guard let webhook = try await store.read({ try $0.webhook(id) }) else {
            throw Self.unknown(id)
        }
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

    private static func unknown(_ id: WebhookID) -> OperatorError {
        OperatorError("There is no webhook \(id.rawValue)", see: "tidebell webhook list")
    }

    private static func check(_ url: String) throws {
        guard url.utf8.count <= urlLength, let parts = URLComponents(string: url),
            let host = parts.host, !host.isEmpty,
            ["http", "https"].contains(parts.scheme?.lowercased())
        else {
            throw OperatorError(
                "A webhook's URL begins with https:// or http:// and a host, and has at most "
                    + "\(urlLength) bytes."
            )
        }
        guard parts.user == nil, parts.password == nil else {
            throw OperatorError(
                "A webhook's URL has no user or password in it; "
                    + "receivers check the signature instead."
            )
        }
    }

    static func check(container: String) throws {
        guard container.utf8.count <= Identifier.containerLength,
            Identifier.isContainer(container)
        else {
            throw OperatorError("A container has 1 to 255 letters, digits, '.' and '-'.")
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
