// SPDX-License-Identifier: Apache-2.0

/// How the notifications of users are numbered.
///
/// What a store promises is an order for each user. One counter for all of them keeps that,
/// and costs one writer nothing; whoever concludes anything from the numbers of two users is
/// wrong all the same, and finds it out in tests on a store whose users have numbers of their own.
package enum NotificationNumbers: Sendable {
    /// By one counter.
    case shared
    /// By one counter that gives numbers before the transactions are committed that take them: where a
    /// user's log ends only its rows and its floor show.
    case ahead
    /// Each from a number of their own on, far from all others. For tests: to find the last
    /// one costs more.
    case perUser

    /// The SQL function that gives the first number behind another one that the log of a user may
    /// have; NULL where all share a counter.
    package static let function = "tidebell_next_number"

    /// From one number of a user to the next, a power of 2: so many users never have the same.
    package static let step: Int64 = 1 << 12

    /// The first number behind `last` that no other user has. A log begins at a number that
    /// reveals nothing of the user's, 2^24 from that of any other or the same, and far below those
    /// that a new life begins with.
    package static func next(of user: Int64, after last: Int64) -> Int64 {
        let mixed = UInt64(bitPattern: user) &* 0x9E37_79B9_7F4A_7C15
        let least = max(last + 1, Int64((mixed >> 46) + 1) << 24)
        return least + ((user - least) & (step - 1))
    }
}
