// SPDX-License-Identifier: Apache-2.0

/// A cell of a cloud: one of its PostgreSQL clusters.
///
/// Numbers that a cell gives begin with its own, so that an ID says where it was given, which is where what it names
/// still is, unless it was moved (``CellMap``).
struct CellNumber: RawRepresentable, Sendable, Hashable, Comparable {
    /// The bits of a number below its cell's: more than a thousand for each millisecond up to the year 2100, since a
    /// new life of a store begins at the clock (``SQLTransaction/number(ofNewLifeAfter:at:)``).
    private static let bits = 52
    /// The most cells.
    static let limit = 1 << (63 - bits)
    /// The one that has the directory, and all that is not spread.
    static let directory = CellNumber(rawValue: 0)

    let rawValue: Int

    /// Names a cell.
    init(rawValue: Int) { self.rawValue = rawValue }

    /// The cell that gave a number.
    init(thatGave number: Int64) { rawValue = Int(max(number, 0) >> Self.bits) }

    /// The number before the first one that the cell gives.
    var start: Int64 { Int64(rawValue) << Self.bits }

    /// What counts the rows whose numbers stay what they are wherever they are moved, and ascend: entries of the outbox, for
    /// each database, and notifications, for each user. So they do not begin with the cell's number, but leave it as remainder,
    /// and no two cells ever give the same.
    static let steppedTables = ["notification", "outbox"]

    /// The first of these numbers behind another one.
    func steppedNumber(after number: Int64) -> Int64 {
        (number / Int64(Self.limit) + 1) * Int64(Self.limit) + Int64(rawValue)
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
