// SPDX-License-Identifier: Apache-2.0
import TidebellSQL

extension StoreNumbers {
    /// Beyond all that a server gives out: 1024 numbers for each millisecond since 1970 are
    /// a thousand times less.
    static let limit: Int64 = 1 << 60

    /// A sum in SQL that does not overflow, whatever the numbers are.
    static func sum(_ column: String) -> String { "CAST(total(\(column)) AS INTEGER)" }

    /// Columns of bits rather than numbers; nothing is added to them.
    static let bits: Set = ["identity", "duplicate_hash", "checksum"]

    /// The least number that a column may hold. Moments may lie before 1970, by a wrong clock, and a
    /// change that is set aside for its damage has -1 in `told_through`; all else counts, or is an
    /// ID.
    private static func least(_ column: String) -> Int64 {
        let isMoment =
            column.hasSuffix("_at") || ["at", "since", "retention_moment"].contains(column)
        return isMoment || column == "told_through" ? -limit : 0
    }

    /// Names the first of a table's columns that holds a number out of bounds, and the
    /// number; nil where none does. Reads the whole table.
    static func outOfBounds(
        _ table: String, _ columns: [String], on connection: Connection
    ) throws -> String? {
        guard !columns.isEmpty else { return nil }
        let ends = columns.map { "max(\"\($0)\"), min(\"\($0)\")" }.joined(separator: ", ")
        let found = try connection.rows("SELECT \(ends) FROM \"\(table)\"") { row in
            columns.indices.flatMap { index in
                [2 * index, 2 * index + 1].map { (columns[index], row.int(Int32($0))) }
            }
        }
        let outside = found.joined().first { !(least($0.0)...limit).contains($0.1) }
        guard let (column, number) = outside else { return nil }
        return "\(table).\(column) is \(number), which nothing gives out"
    }
}
