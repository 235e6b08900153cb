// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// One push as Apple's service takes it ("Sending notification requests to APNs").
package struct APNsRequest: Sendable, Hashable {
    /// The device token, in hexadecimal digits.
    package var token: String
    /// The app's bundle ID.
    package var topic: String
    package var pushType: PushType
    /// When Apple stops trying, in seconds since 1970.
    package var expiration: Int64
    /// The notification ID: the same in every repetition, so that two deliveries of
    /// one push can be distinguished from two pushes.
    package var id: String
    /// What pushes replace one another on the device.
    package var collapseID: String?
    package var payload: [UInt8]

    /// Creates the request that sends a notification to a token.
    package init(
        _ notification: StoredNotification, token: String, topic: String, expiration: Duration
    ) {
        self.token = token
        self.topic = topic
        pushType = notification.pushType
        self.expiration = notification.createdAt.advanced(by: expiration).rawValue / 1000
        id = notification.notificationID
        if case .chosen(let text) = notification.collapseID { collapseID = text }
        payload = notification.payload
    }

    /// The path of the request.
    package var path: String { "/3/device/\(token)" }

    /// The headers but for `authorization`.
    package var headers: [(name: String, value: String)] {
        var headers = [
            ("apns-topic", topic),
            ("apns-push-type", pushType.rawValue),
            ("apns-priority", String(pushType.priority)),
            ("apns-expiration", String(expiration)),
            ("apns-id", id),
        ]
        if let collapseID { headers.append(("apns-collapse-id", collapseID)) }
        return headers
    }
}
