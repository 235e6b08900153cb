// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import TidebellSQL

/// The row a statement stands on.
final class SQLiteRow: SQLRow {
    /// Nil where none steps.
    var statement: OpaquePointer?

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func buffer(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard let start = sqlite3_column_blob(statement, column) else {
            // An empty text or blob has no address.
            return isNull(column) ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    func damage(_ message: String) -> any Error {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: message)
    }
}
