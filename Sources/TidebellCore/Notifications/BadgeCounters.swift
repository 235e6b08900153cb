// SPDX-License-Identifier: Apache-2.0

/// The badges of the users that a pass notifies (NINFO-11): a user has one, which
/// every notification of a subscription with `shouldBadge` counts up, whatever its
/// database, and which all devices of the user show.
///
/// A notification that replaces others of its pass counts once. One that replaces
/// a notification of an earlier pass counts too: a device may have shown that one.
package struct BadgeCounters: Sendable, Hashable {
    /// The highest badge; it stays there rather than overflow.
    package static let limit = Int(Int32.max)

    /// The badges by user; who is absent has none yet.
    package private(set) var counts: [UserID: Int]

    /// Starts from what the store knows.
    package init(_ counts: [UserID: Int] = [:]) { self.counts = counts }

    /// Counts up the user's badge and returns it.
    package mutating func next(for user: UserID) -> Int {
        let count = min(counts[user, default: 0], Self.limit - 1) + 1
        counts[user] = count
        return count
    }

    /// Gives each notification that counts its badge, in order; one that has it
    /// already is not encoded again.
    package mutating func number(_ notifications: inout [BuiltNotification]) {
        for index in notifications.indices where notifications[index].coalesced.countsBadge {
            notifications[index].setBadge(next(for: notifications[index].notification.user))
        }
    }
}
