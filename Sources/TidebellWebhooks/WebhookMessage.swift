// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// One request to a webhook's receiver, signed: the form of Standard Webhooks.
package struct WebhookMessage: Sendable, Hashable {
    /// `push`, or `test` for a sample that nobody must act upon.
    package enum Kind: String, Sendable {
        case push, test
    }

    /// The notification ID, the same at every try: what a receiver distinguishes
    /// repetitions by.
    package let id: String
    /// The moment of the try, in seconds since 1970.
    package let timestamp: Int64
    /// The value of `webhook-signature`.
    package let signature: String
    /// One JSON object.
    package let body: [UInt8]

    /// Writes and signs a message.
    package init(
        _ item: WebhookItem, kind: Kind = .push, for webhook: StoredWebhook, at now: Instant
    ) {
        id = item.notification.notificationID
        timestamp = now.rawValue / 1000
        body = item.body(kind, for: webhook.container)
        signature = WebhookSecret(bytes: webhook.secret)
            .signature(id: id, timestamp: timestamp, body: body)
    }

    /// The header fields of the request.
    package var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "application/json"),
            ("User-Agent", "Tidebell-Webhooks"),
            ("webhook-id", id),
            ("webhook-timestamp", "\(timestamp)"),
            ("webhook-signature", signature),
        ]
    }
}

/// A notification with what a receiver has to know beside it.
package struct WebhookItem: Sendable, Hashable {
    /// Its origin, like the devices, under the ID that records have for it.
    package var notification: StoredNotification
    /// The record name of the user who is notified.
    package var user: String
    /// All devices of the user with their native push tokens.
    package var devices: [DeviceTokens]

    /// Creates an item.
    package init(notification: StoredNotification, user: String, devices: [DeviceTokens]) {
        self.notification = notification
        self.user = user
        self.devices = devices
    }

    /// The body of the request; the payload is copied into it as it is stored.
    fileprivate func body(_ kind: WebhookMessage.Kind, for container: ContainerKey) -> [UInt8] {
        let capacity = notification.payload.count + 512 + 256 * devices.count
        return JSONWriter.write(capacity: capacity) { writer in
            writer.object { writer in
                writer.member("type", kind.rawValue)
                writer.member("container", container.container)
                writer.member("environment", container.environment.rawValue)
                writer.member("user", user)
                writer.member("notificationID", notification.notificationID)
                writer.member("pushType", notification.pushType.rawValue)
                writer.member("priority", notification.pushType.priority)
                if case .chosen(let text) = notification.collapseID {
                    writer.member("collapseID", text)
                }
                writer.member("originDevice", notification.originClient)
                writer.key("devices")
                writer.array { writer in
                    // The origin is never notified (SUB-46).
                    for device in devices where device.clientID != notification.originClient {
                        device.write(to: &writer)
                    }
                }
                writer.key("payload")
                writer.raw(notification.payload)
            }
        }
    }
}

extension DeviceTokens {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("deviceID", clientID)
            writer.key("pushTokens")
            writer.array(tokens) { writer, token in
                writer.object { writer in
                    writer.member("token", token.token)
                    writer.member("topic", token.topic)
                    writer.member("apnsEnvironment", token.apnsEnvironment.rawValue)
                }
            }
        }
    }
}
