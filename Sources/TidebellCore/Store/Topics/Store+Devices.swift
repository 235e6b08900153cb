// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The devices of users.
package protocol DeviceReading {
    /// Returns the user's devices.
    func devices(of user: UserID) throws -> [StoredDevice]

    /// Returns the user's devices with the moments they were registered.
    func registeredDevices(of user: UserID) throws -> [RegisteredDevice]

    /// Returns those of the users whom a notification can reach: their account is there
    /// and not disabled, and they have a device, or their container has a webhook.
    func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser]
}

/// Devices are registered, are in use, acknowledge what they received, and go.
package protocol DeviceWriting: DeviceReading {
    /// Returns the user's device with this client ID, registered at the head of
    /// the log if it is new, and notes that it is in use, to the day. A client ID that was another user's of the same
    /// container stops being that user's device (SUB-51).
    ///
    /// Of a user with more than `limit` devices, those unused for longest go, with the
    /// push tokens that told nobody else.
    func registerDevice(
        clientID: String,
        user: UserID,
        container: ContainerKey,
        atMost limit: Int,
        at now: Instant
    ) throws -> StoredDevice

    /// Moves the device's acknowledgement forward, never back.
    func acknowledge(_ device: DeviceKey, upTo sequence: NotificationSequence) throws

    /// Notes that devices are in use; what is gone is ignored.
    func markDevicesSeen(_ devices: [DeviceKey], at now: Instant) throws

    /// Removes a device of a user, with the push tokens that told nobody else
    /// (SUB-51); what is gone is ignored.
    func removeDevice(clientID: String, of user: UserID) throws

    /// Removes devices that were not seen since `moment`, with the push tokens
    /// that told nobody else; returns how many went. At most `limit`.
    func removeDevices(unseenSince moment: Instant, limit: Int) throws -> Int
}

extension DeviceWriting {
    /// Returns the user's device with this client ID, however many the user has.
    package func registerDevice(
        clientID: String, user: UserID, container: ContainerKey, at now: Instant
    ) throws -> StoredDevice {
        try registerDevice(
            clientID: clientID, user: user, container: container, atMost: .max, at: now)
    }
}
