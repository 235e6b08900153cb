// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    /// How far a database's history may have run ahead of the clock: a change for each
    /// millisecond of an hour. No more, because positions ahead of the clock are not
    /// protected by it.
    package static let changesAheadOfClock: Int64 = 3_600_000

    /// What a new life adds to numbers that are ahead of the clock, so that it is past what a
    /// lost life gave out though the clock stands still or went back.
    private static let leap: Int64 = 1 << 40
    /// How many numbers a life may give out in a millisecond, on the average, and still the
    /// next one begins past them.
    private static let numbersPerMillisecond: Int64 = 1024

    /// The number from which a table counts on in a new life, where `last` is the last one known.
    package static func number(ofNewLifeAfter last: Int64, at now: Instant) -> Int64 {
        let clock = now.rawValue * numbersPerMillisecond
        return last < clock ? clock : last + leap
    }

    /// The present life of the store.
    package func incarnation() throws -> Incarnation {
        try connection.first("SELECT incarnation FROM store WHERE id = 1") {
            try $0.value(0)
        } ?? .first
    }

    /// Where a database begins that is made in the present life: where those began that were
    /// there, since a lost life may have had it already.
    package func startOfLife() throws -> Position {
        let life = try incarnation()
        guard life != .first else { return .start }
        return Position(rawValue: life.rawValue + Self.changesAheadOfClock)
    }
}
