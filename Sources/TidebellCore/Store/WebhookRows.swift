// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// One webhook of a container.
package struct WebhookID: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A URL that a container's notifications are posted to.
package struct StoredWebhook: Sendable, Hashable {
    package var id: WebhookID
    package var container: ContainerKey
    package var url: String
    /// The key its requests are signed with.
    package var secret: [UInt8]
    package var createdAt: Instant
    /// Why nothing is posted any more; nil while it is enabled.
    package var disabledReason: String?

    /// Creates a row.
    package init(
        id: WebhookID, container: ContainerKey, url: String, secret: [UInt8], createdAt: Instant,
        disabledReason: String? = nil
    ) {
        self.id = id
        self.container = container
        self.url = url
        self.secret = secret
        self.createdAt = createdAt
        self.disabledReason = disabledReason
    }
}

/// A device of a user with the native push tokens that reach it.
package struct DeviceTokens: Sendable, Hashable {
    package var user: UserID
    package var clientID: String
    /// Without the tokens that we issued for couriers.
    package var tokens: [StoredPushToken]

    /// Creates a value.
    package init(user: UserID, clientID: String, tokens: [StoredPushToken]) {
        self.user = user
        self.clientID = clientID
        self.tokens = tokens
    }
}
