// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What a native push token gets: the notifications of one device. A token
/// that is registered in several containers is a target in each.
package struct PushTargetKey: Sendable, Hashable {
    package var token: String
    package var device: DeviceKey

    package init(token: String, device: DeviceKey) {
        self.token = token
        self.device = device
    }
}

/// A native push token and its position in the notification log.
package struct PushTarget: Sendable, Hashable {
    package var key: PushTargetKey
    package var user: UserID
    /// The device, whose own changes it does not get (SUB-46).
    package var clientID: String
    /// Which of Apple's services the token is of.
    package var apnsEnvironment: CloudEnvironment
    /// The app, if the registration named it.
    package var topic: String?
    /// When the token was registered last.
    package var registeredAt: Instant
    /// Everything up to here was delivered, or never can be.
    package var delivered: NotificationSequence

    package init(
        key: PushTargetKey, user: UserID, clientID: String, apnsEnvironment: CloudEnvironment,
        topic: String?, registeredAt: Instant, delivered: NotificationSequence
    ) {
        self.key = key
        self.user = user
        self.clientID = clientID
        self.apnsEnvironment = apnsEnvironment
        self.topic = topic
        self.registeredAt = registeredAt
        self.delivered = delivered
    }
}
