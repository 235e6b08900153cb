// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    /// How far a database's history may have run ahead of the clock: a change for each
    /// millisecond of an hour. No more, because positions ahead of the clock are not
    /// protected by it.
    package static let changesAheadOfClock: Int64 = 3_600_000

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
