// SPDX-License-Identifier: Apache-2.0

/// `/ext/1/{container}/{environment}/notifications/changes`: the caller's log of
/// notifications (NOTIF-11). An extension.
package enum FetchNotificationChanges: WireEndpoint {
    // It notes which read marks were returned.
    package static let route = WireRoute(.of(.ext, "notifications/changes"), .repeatable)

    /// The request.
    package struct Request: WireBody, Hashable {
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
    package struct Response: WireBody, Hashable {
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
package enum MarkNotificationsRead: WireEndpoint {
    package static let route = WireRoute(.of(.ext, "notifications/markRead"), .writes)

    /// The request.
    package struct Request: WireBody, Hashable {
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
    package struct Response: WireBody, Hashable {
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
package struct ModifyBadge: WireEndpoint, WireBody, Hashable {
    package typealias Request = ModifyBadge
    package typealias Response = ModifyBadge
    package static let route = WireRoute(.of(.ext, "notifications/badge"), .writes)

    /// The number on the app's icon.
    package var value: Int

    /// Creates a request or an answer.
    package init(value: Int) {
        self.value = value
    }
}
