// SPDX-License-Identifier: Apache-2.0
@testable import TidebellTesting

extension APNsMessage {
    /// A push without authorization that is right otherwise.
    static var push: APNsMessage {
        APNsMessage(
            headers: [
                (":method", "POST"), (":scheme", "https"), (":path", "/3/device/ab12"),
                (":authority", "localhost"), ("apns-topic", "org.example.app"),
                ("apns-push-type", "background"), ("apns-priority", "5"),
                ("apns-expiration", "1767272400"),
                ("apns-id", "0f0e0d0c-0b0a-4908-8706-050403020100"),
            ],
            body: Array(#"{"aps":{"content-available":1}}"#.utf8)
        )
    }

    /// Returns the message with another value of a header; nil takes it away.
    func with(_ name: String, _ value: String?) -> APNsMessage {
        var message = self
        message.headers.removeAll { $0.name == name }
        if let value { message.headers.append((name, value)) }
        return message
    }

    /// Returns the message with another body.
    func with(body: String) -> APNsMessage {
        var message = self
        message.body = Array(body.utf8)
        return message
    }
}
