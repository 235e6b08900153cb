// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import GRDBSQLite
import TidebellCore
import TidebellWire

/// The columns of the row a statement stands on; valid until it steps on.
///
/// Columns are numbered from 0. Text and blobs are copied once, from SQLite's
/// page into the value.
struct Columns {
    let statement: OpaquePointer

    /// Returns a whole number.
    func int(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    /// Returns a whole number, or nil for NULL.
    func optionalInt(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int(column)
    }

    /// Returns a 0 or 1 as a boolean.
    func bool(_ column: Int32) -> Bool {
        sqlite3_column_int64(statement, column) != 0
    }

    /// Returns a text; empty for NULL.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a text; `other` itself where it is the same, so that what many rows repeat is
    /// allocated once.
    func text(_ column: Int32, like other: String) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        let isSame = other.utf8.withContiguousStorageIfAvailable { other in
            guard let first = other.baseAddress, other.count == count else { return false }
            return memcmp(first, start, count) == 0
        }
        guard isSame != true else { return other }
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a text, or nil for NULL.
    func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// Returns the bytes of a blob or text; empty for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(sqlite3_column_bytes(statement, column))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Returns the number of bytes of a blob or text; 0 for NULL.
    func byteCount(_ column: Int32) -> Int {
        Int(sqlite3_column_bytes(statement, column))
    }

    /// Returns the bytes of a blob, or nil for NULL.
    func optionalBytes(_ column: Int32) -> [UInt8]? {
        isNull(column) ? nil : bytes(column)
    }

    /// Returns an identifier, a position, a moment or a case of an enumeration.
    func value<Value: RawRepresentable>(
        _ column: Int32, as type: Value.Type = Value.self
    ) throws -> Value where Value.RawValue: Readable {
        let raw = Value.RawValue(columns: self, column)
        guard let value = Value(rawValue: raw) else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "the store holds '\(raw)' as a \(type)"
            )
        }
        return value
    }

    /// Whether the column is NULL.
    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }
}

/// A raw value that a column can hold.
protocol Readable {
    /// Reads the column.
    init(columns: Columns, _ column: Int32)
}

extension Int64: Readable {
    init(columns: Columns, _ column: Int32) {
        self = columns.int(column)
    }
}

extension Int: Readable {
    init(columns: Columns, _ column: Int32) {
        self = Int(columns.int(column))
    }
}

extension String: Readable {
    init(columns: Columns, _ column: Int32) {
        self = columns.text(column)
    }
}

extension Columns {
    /// Returns an identifier or a moment, or nil for NULL.
    func optional<Value: RawRepresentable>(
        _ column: Int32, as type: Value.Type = Value.self
    ) throws -> Value? where Value.RawValue: Readable {
        isNull(column) ? nil : try value(column)
    }

    /// Returns a container that stands in two columns, or nil for NULL.
    func container(_ column: Int32) throws -> ContainerKey? {
        guard let name = optionalText(column) else { return nil }
        return ContainerKey(container: name, environment: try value(column + 1))
    }
}
