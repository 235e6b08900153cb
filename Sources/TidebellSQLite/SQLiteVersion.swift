// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite

/// The SQLite that this process runs with: the system's, not ours to choose.
package struct SQLiteVersion: Sendable, Hashable, CustomStringConvertible {
    /// The version as SQLite counts: 3.40.1 is 3040001.
    private let number: Int

    /// Creates a version from SQLite's number for it.
    init(number: Int) {
        self.number = number
    }

    /// The one that is in use.
    package static var current: SQLiteVersion {
        SQLiteVersion(number: Int(sqlite3_libversion_number()))
    }

    package var description: String {
        "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    /// Whether a checkpoint that begins where all was copied, beside a commit, may lose commits
    /// (sqlite.org/wal.html#walresetbug): 3.7.0 to 3.51.2, without 3.44.6 and 3.50.7 and the
    /// later ones of both.
    package var hasWALResetDefect: Bool {
        guard (3_007_000...3_051_002).contains(number) else { return false }
        return !(3_044_006...3_044_999).contains(number)
            && !(3_050_007...3_050_999).contains(number)
    }
}
