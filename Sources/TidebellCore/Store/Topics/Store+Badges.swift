// SPDX-License-Identifier: Apache-2.0

/// Users' badges (NINFO-11).
package protocol BadgeReading {
    /// Returns the users' badges (NINFO-11); who never had one is absent.
    func badges(of users: Set<UserID>) throws -> [UserID: Int]
}

/// Badges are set.
package protocol BadgeWriting: BadgeReading {
    /// Sets users' badges.
    func putBadges(_ badges: [UserID: Int]) throws
}
