// SPDX-License-Identifier: Apache-2.0
import GRDB

/// How the notifications of users are numbered.
///
/// What a store promises is an order for each user. One counter for all of them keeps that,
/// and costs one writer nothing; whoever concludes anything from the numbers of two users is
/// wrong all the same, and finds it out in tests on a store whose users have numbers of their own.
package enum NotificationNumbers: Sendable {
    /// By one counter.
    case shared
    /// Each from a number of their own on, far from all others. For tests: to find the last
    /// one costs more.
    case perUser

    /// The SQL function that gives the first number behind another one that the log of a user may
    /// have; NULL where all share a counter.
    static let function = "tidebell_next_number"

    /// From one number of a user to the next, a power of 2: so many users never have the same.
    static let step: Int64 = 1 << 12

    /// Adds the function to a connection.
    func define(in database: Database) {
        let isPerUser = self == .perUser
        database.add(
            function: DatabaseFunction(Self.function, argumentCount: 2, pure: true) { values in
                guard isPerUser, let user = Int64.fromDatabaseValue(values[0]) else { return nil }
                return Self.next(of: user, after: Int64.fromDatabaseValue(values[1]) ?? 0)
            }
        )
    }

    /// Returns how a connection numbers.
    init(of connection: Connection) throws {
        let isPerUser = try connection.first("SELECT \(Self.function)(0, 0) IS NOT NULL") {
            $0.bool(0)
        }
        self = isPerUser == true ? .perUser : .shared
    }

    /// The first number behind `last` that no other user has. A log begins at a number that
    /// reveals nothing of the user's, 2^24 from that of any other or the same, and far below those
    /// that a new life begins with.
    private static func next(of user: Int64, after last: Int64) -> Int64 {
        let mixed = UInt64(bitPattern: user) &* 0x9E37_79B9_7F4A_7C15
        let least = max(last + 1, Int64((mixed >> 46) + 1) << 24)
        return least + ((user - least) & (step - 1))
    }
}
