// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension CellNumber {
    /// What counts the rows whose numbers stay what they are wherever they are moved, and ascend: entries of the outbox, for
    /// each database, and notifications, for each user. So they do not begin with the cell's number, but leave it as remainder,
    /// and no two cells ever give the same.
    static let steppedTables = ["notification", "outbox"]

    /// The first of these numbers behind another one.
    func steppedNumber(after number: Int64) -> Int64 {
        (number / Int64(Self.limit) + 1) * Int64(Self.limit) + Int64(rawValue)
    }
}
