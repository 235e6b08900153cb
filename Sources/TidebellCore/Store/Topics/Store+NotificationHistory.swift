// SPDX-License-Identifier: Apache-2.0

/// The log as the history of a user: what is unread, and marks of what was read (NOTIF-11).
package protocol NotificationHistoryReading {
    /// Returns the user's notifications after a position of the history, oldest
    /// first: the unread ones, at their sequence, and the marks of the read ones,
    /// at the position where they were read.
    ///
    /// - Parameter marks: Which marks are wanted.
    func notificationHistory(
        of user: UserID, after position: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry]

    /// Returns where in the log after a position the user's notifications with these IDs are.
    ///
    /// An engine without an index of the IDs reads the user's log backwards until it has found all: where one
    /// process writes, few calls look for them, and an index would make every notification cost more.
    func notificationSequences(
        _ ids: Set<String>, of user: UserID, after position: NotificationSequence
    ) throws -> [String: NotificationSequence]
}

extension NotificationHistoryReading {
    /// Returns where in the log the user's notifications with these IDs are.
    package func notificationSequences(
        _ ids: Set<String>, of user: UserID
    ) throws -> [String: NotificationSequence] {
        try notificationSequences(ids, of: user, after: .start)
    }
}

/// Notifications are marked as read.
package protocol NotificationHistoryWriting: NotificationHistoryReading {
    /// Marks a user's notifications as read, each at a new position of the history;
    /// what was read already stays where it is, what is gone is passed over.
    /// Devices that are away get them all the same.
    func markNotificationsRead(
        _ sequences: Set<NotificationSequence>, of user: UserID
    ) throws

    /// Stores that a fetch of the history has returned the marks at these positions.
    func markReadMarksReported(_ positions: Set<NotificationSequence>, of user: UserID) throws
}
