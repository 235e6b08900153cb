// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The devices of users.
package protocol DeviceReading {
    /// Returns the user's devices.
    func devices(of user: UserID) throws -> [StoredDevice]

    /// Returns the user's devices with the moments they were registered.
    func registeredDevices(of user: UserID) throws -> [RegisteredDevice]

    /// Returns those of the users whom a notification can reach: their account is there
    /// and not disabled, and they have a device, or their container has a webhook.
    func reachableUsers(among users: Set<UserID>) throws -> [UserID: StoredUser]

    /// Returns the other users of `user`'s container of whom a device has the client ID, and the
    /// users of other accounts whose devices the push token reaches.
    func holders(
        ofClientID clientID: String, pushToken token: String?, besides user: StoredUser
    ) throws -> Set<UserID>
}

/// Devices are registered, are in use, acknowledge what they received, and go.
package protocol DeviceWriting: DeviceReading {
    /// Returns the user's device with this client ID, registered at the head of
    /// the log if it is new, and notes that it is in use, to the day. A client ID that was another user's of the same
    /// container stops being that user's device (SUB-51); in an engine whose users are in different parts they have given it up
    /// first (``HeldByOthers``).
    ///
    /// Of a user with more than `limit` devices, those unused for longest go, with the
    /// push tokens that reached nobody else.
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

    /// Removes a device of a user, with the push tokens that reached nobody else
    /// (SUB-51); what is gone is ignored.
    func removeDevice(clientID: String, of user: UserID) throws

    /// Removes the user's device with this client ID, and ends what the push token delivers to the
    /// user's devices: both are about to be somebody else's (SUB-51). What is gone is ignored.
    func giveUp(clientID: String, pushToken token: String?, of user: UserID) throws

    /// Removes devices that were not seen since `moment`, with the push tokens
    /// that reached nobody else; returns how many went. At most `limit`.
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

/// What a device brings that is another user's still: a client ID, a push token.
///
/// Whose it was gives it up in a step of their own, before it becomes the caller's (SUB-51). What
/// was given up once is not there to be given up again; where the caller's step does not come
/// after all, the device registers again.
package struct HeldByOthers: Sendable, Hashable {
    let clientID: String
    let pushToken: String?
    let holders: Set<UserID>

    /// Creates a value; nil where nobody else has anything of it.
    package init?(
        clientID: String, pushToken: String?, besides user: StoredUser,
        in reader: some DeviceReading
    ) throws {
        holders = try reader.holders(ofClientID: clientID, pushToken: pushToken, besides: user)
        guard !holders.isEmpty else { return nil }
        self.clientID = clientID
        self.pushToken = pushToken
    }

    /// Has it given up, holder by holder.
    package func run(as steps: some StoreSteps) throws {
        for holder in holders.sorted(by: { $0.rawValue < $1.rawValue }) {
            try steps.write(.user(holder)) {
                try $0.giveUp(clientID: clientID, pushToken: pushToken, of: holder)
            }
        }
    }
}
