// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// How the outbox entries of databases are numbered.
///
/// Rows have one counter. What a store promises is an order for each database: whoever compares
/// the positions of two, or takes a position alone for an entry, is wrong all the same, and finds
/// it out in tests on a store whose databases have numbers of their own.
package enum OutboxNumbers: Sendable {
    /// A position is the row's number.
    case shared
    /// Each database's are moved by a distance of its own. For tests: those of several are the
    /// same, and a later one is smaller.
    case perDatabase

    /// The position of a row.
    func position(ofRow row: Int64, in database: DatabaseID) -> OutboxPosition {
        OutboxPosition(rawValue: row + distance(of: database))
    }

    /// The row of a position.
    func row(of position: OutboxPosition, in database: DatabaseID) -> Int64 {
        position.rawValue - distance(of: database)
    }

    /// The row of an entry.
    func row(of entry: OutboxEntryID) -> Int64 { row(of: entry.position, in: entry.database) }

    private func distance(of database: DatabaseID) -> Int64 {
        switch self {
        case .shared: 0
        case .perDatabase: 2 * (1000 - database.rawValue % 1000)
        }
    }
}
