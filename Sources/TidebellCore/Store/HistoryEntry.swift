// SPDX-License-Identifier: Apache-2.0

/// A notification as its user's history has it (PUSH-8): in full, or the mark it
/// leaves once it was read (NOTIF-13).
package struct HistoryEntry: Sendable, Hashable {
    /// What is left of the notification.
    package enum Content: Sendable, Hashable {
        /// The payload before pruning (NOTIF-8).
        case unread(payload: [UInt8])
        /// Whether a fetch has given the mark out.
        case read(isReported: Bool)
    }

    /// Its position in the history, which reading it moves to the end.
    package var position: NotificationSequence
    package var notificationID: String
    package var content: Content

    package init(position: NotificationSequence, notificationID: String, content: Content) {
        self.position = position
        self.notificationID = notificationID
        self.content = content
    }
}

/// Which marks of read notifications a reader of the history wants.
package enum ReadMarks: Sendable, Hashable {
    /// Those that no fetch has given out, for a reader that has nothing yet.
    case unreported
    /// All, for a reader that may have the notifications as unread.
    case all
}
