// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Push tokens: those of couriers, which we issue, and native ones, with the targets they make.
package protocol PushTokenReading {
    /// Returns a push token.
    func pushToken(_ token: String) throws -> StoredPushToken?

    /// Returns the push token, and the devices it reaches now, found by its courier
    /// capability; ``StoredDevice/acknowledged`` is how far the courier has given out
    /// what is for the device, which is the token's own position.
    ///
    /// A token reaches a device while the session lasts in which it was registered for it;
    /// tokens from before sessions, while the account is not disabled.
    func pushToken(
        courier: String, at now: Instant
    ) throws -> (token: StoredPushToken, devices: [StoredDevice])?

    /// Returns the devices of users with their native push tokens whose sessions last, by
    /// client ID within each user; devices without such a token too.
    func devicesWithTokens(of users: Set<UserID>, at now: Instant) throws -> [DeviceTokens]

    /// Returns a target as it is now, or nil if it is gone, or its session has ended.
    func pushTarget(_ key: PushTargetKey, at now: Instant) throws -> PushTarget?
}

/// Push tokens are registered, move in the log, and go.
package protocol PushTokenWriting: PushTokenReading {
    /// Inserts or replaces a push token and adds the device to those it reaches.
    ///
    /// A token reaches devices of one account, the one it was put for last (SUB-51), and a
    /// native one only one device of a container; in an engine whose users are in different parts others have given it up first
    /// (``HeldByOthers``). For each device it starts at the head of the log.
    ///
    /// It reaches the device for as long as `session` lasts. Put again, it keeps its position
    /// where the session it was put in before lasts (at the time of its registration), and
    /// otherwise starts at the head once more.
    func putPushToken(
        _ token: StoredPushToken, notifying device: DeviceKey, in session: SessionID?
    ) throws

    /// Moves the courier's position in a user's log forward, for all devices of the user that
    /// its token reaches, never back.
    func acknowledge(
        courierToken token: String, of user: UserID, upTo sequence: NotificationSequence
    ) throws

    /// Moves targets forward in the logs of their users, never back, and those that have nothing
    /// more out of the queue; those that are gone are ignored.
    func movePushTargets(_ cursors: [PushTargetKey: NotificationSequence]) throws

    /// Takes a target out of the queue that is gone, or whose session has ended: nothing is for
    /// it any more.
    func withdrawPushTarget(_ key: PushTargetKey, at now: Instant) throws

    /// Removes a push token unless it was registered after `moment`; returns
    /// whether it is gone.
    func removePushToken(_ token: String, registeredUpTo moment: Instant) throws -> Bool

    /// Takes the push tokens registered longest ago from a user who has more
    /// than `limit` of them; returns how many.
    func trimPushTokens(of user: UserID, to limit: Int) throws -> Int
}

extension PushTokenWriting {
    /// Inserts or replaces a push token that reaches a device whatever sessions end.
    package func putPushToken(_ token: StoredPushToken, notifying device: DeviceKey) throws {
        try putPushToken(token, notifying: device, in: nil)
    }
}
