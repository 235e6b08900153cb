// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// A way by which notifications reach devices, or whoever stands for them.
///
/// The notification log is what a route delivers from; it keeps a cursor for
/// whom it notifies and is late, never lossy. Publishing is a hint that the log has
/// more.
package protocol PushRoute: Sendable {
    /// Signals that notifications are in the log, those of a user in its order. Returns at once;
    /// what the route does about it happens elsewhere.
    ///
    /// Other pipelines publish at the same time: what comes first need not be the first in a
    /// user's log.
    ///
    /// - Parameter ends: Where the log of each of their users ended before; users whose log was
    ///   empty are left out.
    func publish(
        _ notifications: [StoredNotification], after ends: [UserID: NotificationSequence]
    )

    /// Signals that another process may have appended to the logs of these users, or of any (nil), and published it
    /// to its own connections. Returns at once.
    func lookAgain(for users: Set<UserID>?)
}
