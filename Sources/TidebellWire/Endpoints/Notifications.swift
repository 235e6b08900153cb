// SPDX-License-Identifier: Apache-2.0

/// `/ext/1/{container}/{environment}/notifications/changes`: the caller's log of
/// notifications (NOTIF-11). An extension.
package enum FetchNotificationChanges {
    /// The request.
    package struct Request: Sendable, Hashable {
        /// What the caller has; nil for all that is kept.
        package var serverChangeToken: String?
        package var resultsLimit: Int?

        /// Creates a request.
        package init(serverChangeToken: String? = nil, resultsLimit: Int? = nil) {
            self.serverChangeToken = serverChangeToken
            self.resultsLimit = resultsLimit
        }
    }

    /// One notification of the log.
    package struct Entry: Sendable, Hashable {
        package var notificationID: String
        /// The whole dictionary of the push, `aps` and `ck`, as JSON (NOTIF-5);
        /// nil for one that was marked read (NOTIF-13).
        package var payload: [UInt8]?

        /// Whether the notification was marked read.
        package var isRead: Bool { payload == nil }

        /// Creates an entry.
        package init(notificationID: String, payload: [UInt8]?) {
            self.notificationID = notificationID
            self.payload = payload
        }
    }

    /// The answer: notifications, oldest first.
    package struct Response: Sendable, Hashable {
        package var notifications: [Entry]
        package var serverChangeToken: String
        package var moreComing: Bool

        /// Creates an answer.
        package init(notifications: [Entry], serverChangeToken: String, moreComing: Bool) {
            self.notifications = notifications
            self.serverChangeToken = serverChangeToken
            self.moreComing = moreComing
        }
    }
}

/// `…/notifications/markRead` (NOTIF-13). An extension.
package enum MarkNotificationsRead {
    /// The request.
    package struct Request: Sendable, Hashable {
        package var notificationIDs: [String]

        /// Creates a request.
        package init(notificationIDs: [String]) {
            self.notificationIDs = notificationIDs
        }
    }

    /// An ID that could not be marked.
    package struct Failure: Sendable, Hashable {
        package var notificationID: String
        package var error: WireError

        /// Creates a failure.
        package init(notificationID: String, error: WireError) {
            self.notificationID = notificationID
            self.error = error
        }
    }

    /// The answer: which are marked now, and which could not be.
    package struct Response: Sendable, Hashable {
        package var notificationIDs: [String]
        package var failed: [Failure]

        /// Creates an answer.
        package init(notificationIDs: [String], failed: [Failure] = []) {
            self.notificationIDs = notificationIDs
            self.failed = failed
        }
    }
}

/// `…/notifications/badge` (NOTIF-14), in both directions the same. An extension.
package struct ModifyBadge: Sendable, Hashable {
    /// The number on the app's icon.
    package var value: Int

    /// Creates a request or an answer.
    package init(value: Int) {
        self.value = value
    }
}
