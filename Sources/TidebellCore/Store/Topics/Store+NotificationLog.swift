// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The notification log: what every user was sent, in one order.
package protocol NotificationLogReading {
    /// Returns a user's notifications after `sequence`, oldest first, without
    /// those whose origin is `client` and without replaced ones.
    func notifications(
        for user: UserID,
        after sequence: NotificationSequence,
        excludingOrigin client: String?,
        limit: Int
    ) throws -> [StoredNotification]

    /// Returns the notifications of all users of a container after `sequence` and
    /// up to `last`, oldest first, without replaced ones.
    ///
    /// Cost grows with the length of the range in the log, whoever's it is.
    func notifications(
        of container: ContainerKey,
        after sequence: NotificationSequence,
        upTo last: NotificationSequence,
        limit: Int
    ) throws -> [StoredNotification]

    /// Returns the position of the oldest of the newest `count` notifications that
    /// ``notifications(for:after:excludingOrigin:limit:)`` would give; nil when
    /// there are fewer.
    func notificationPosition(
        for user: UserID,
        after sequence: NotificationSequence,
        excludingOrigin client: String?,
        newest count: Int
    ) throws -> NotificationSequence?

    /// Returns the positions of the newest notifications of users, for those who have any.
    func newestNotifications(of users: Set<UserID>) throws -> [UserID: NotificationSequence]

    /// The position of the newest notification.
    func notificationHead() throws -> NotificationSequence

    /// The position up to which retention has removed notifications of any user.
    func notificationFloor() throws -> NotificationSequence

    /// The position up to which notifications of a user were removed: by their age, or
    /// because there were too many.
    func notificationFloor(of user: UserID) throws -> NotificationSequence

    /// Returns users with more than `count` notifications, at most `limit`.
    ///
    /// Cost grows with the log.
    func usersWithNotifications(moreThan count: Int, limit: Int) throws -> [UserID]
}

/// The notification log grows at its end and shrinks at its beginning.
package protocol NotificationLogWriting: NotificationLogReading {
    /// Appends notifications and returns them with their sequences. One whose ID stands in its
    /// user's log after `position` already is left as it stands there: what is appended twice
    /// changes nothing. (Before `position` an engine need not look.)
    ///
    /// A notification with a collapse ID replaces the older ones of the same
    /// user, database, subscription, origin and collapse ID (PUSH-2): they are
    /// no longer returned by `notifications`.
    func appendNotifications(
        _ notifications: [StoredNotification], unlessAfter position: NotificationSequence
    ) throws -> [StoredNotification]

    /// Removes notifications older than `moment` (NOTIF-15), at most `limit`, and
    /// raises ``NotificationLogReading/notificationFloor()``; returns how many went.
    func removeNotifications(createdBefore moment: Instant, limit: Int) throws -> Int

    /// Removes the oldest notifications of a user beyond the newest `count`, at most
    /// `limit`, and raises the user's ``NotificationLogReading/notificationFloor(of:)``; returns how
    /// many went.
    func trimNotifications(of user: UserID, to count: Int, limit: Int) throws -> Int
}

extension NotificationLogWriting {
    /// Appends notifications, unless they stand anywhere in their users' logs.
    package func appendNotifications(
        _ notifications: [StoredNotification]
    ) throws -> [StoredNotification] {
        try appendNotifications(notifications, unlessAfter: .start)
    }
}
