// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The notification log: what every user was sent, in an order of each user's own. Numbers of
/// two users have nothing to do with one another.
package protocol NotificationLogReading {
    /// Returns a user's notifications after `sequence`, oldest first, without
    /// those whose origin is `client` and without replaced ones.
    func notifications(
        for user: UserID,
        after sequence: NotificationSequence,
        excludingOrigin client: String?,
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

    /// Returns where a user's log ends: no number was given in it that is greater, and none will
    /// be given that is not.
    func notificationHead(of user: UserID) throws -> NotificationSequence

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
    /// user's log after the position in `ends` already is left as it stands there: what is
    /// appended twice changes nothing. (Before that an engine need not look.)
    ///
    /// In the same transaction their users are put in the queues of the routes: of each webhook
    /// of their container, and of the native push tokens of their devices but the origin.
    ///
    /// A notification with a collapse ID replaces the older ones of the same
    /// user, database, subscription, origin and collapse ID (PUSH-2): they are
    /// no longer returned by `notifications`.
    func appendNotifications(
        _ notifications: [StoredNotification], unlessAfter ends: [UserID: NotificationSequence]
    ) throws -> [StoredNotification]

    /// Removes notifications older than `moment` (NOTIF-15), at most `limit`, and
    /// raises ``NotificationLogReading/notificationFloor(of:)`` of their users; returns how many
    /// went.
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
        try appendNotifications(notifications, unlessAfter: [:])
    }
}
