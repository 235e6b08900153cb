// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// A row as its engine holds it, valid until the statement steps on. Columns are numbered from 0.
package protocol SQLRow: AnyObject {
    /// A whole number; 0 for NULL.
    func int(_ column: Int32) -> Int64
    /// The bytes of a blob or text; nil for NULL.
    func buffer(_ column: Int32) -> UnsafeRawBufferPointer?
    /// Whether the column is NULL.
    func isNull(_ column: Int32) -> Bool
    /// What to throw where a column holds what cannot be right.
    func damage(_ message: String) -> any Error
}

/// The columns of the row a statement stands on; valid until it steps on.
///
/// Text and blobs are copied once, from the engine's memory into the value.
package struct Columns {
    /// Not retained: it outlives the statement.
    private unowned(unsafe) let row: any SQLRow

    /// Reads a row.
    package init(of row: any SQLRow) {
        self.row = row
    }

    /// Returns a whole number.
    package func int(_ column: Int32) -> Int64 { row.int(column) }

    /// Returns a whole number, or nil for NULL.
    package func optionalInt(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int(column)
    }

    /// Returns a 0 or 1 as a boolean.
    package func bool(_ column: Int32) -> Bool { row.int(column) != 0 }

    /// Returns a text; empty for NULL.
    package func text(_ column: Int32) -> String {
        guard let bytes = row.buffer(column) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a text; `other` itself where it is the same, so that what many rows repeat is
    /// allocated once.
    func text(_ column: Int32, like other: String) -> String {
        guard let bytes = row.buffer(column) else { return "" }
        let isSame = other.utf8.withContiguousStorageIfAvailable { other in
            guard let first = other.baseAddress, let start = bytes.baseAddress,
                other.count == bytes.count
            else { return false }
            return memcmp(first, start, other.count) == 0
        }
        guard isSame != true else { return other }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a text, or nil for NULL.
    package func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// Returns the bytes of a blob or text; empty for NULL.
    package func bytes(_ column: Int32) -> [UInt8] {
        row.buffer(column).map { [UInt8]($0) } ?? []
    }

    /// Returns the number of bytes of a blob or text; 0 for NULL.
    package func byteCount(_ column: Int32) -> Int { row.buffer(column)?.count ?? 0 }

    /// Returns the bytes of a blob, or nil for NULL.
    package func optionalBytes(_ column: Int32) -> [UInt8]? {
        isNull(column) ? nil : bytes(column)
    }

    /// Returns an identifier, a position, a moment or a case of an enumeration.
    package func value<Value: RawRepresentable>(
        _ column: Int32, as type: Value.Type = Value.self
    ) throws -> Value where Value.RawValue: Readable {
        let raw = Value.RawValue(columns: self, column)
        guard let value = Value(rawValue: raw) else {
            throw row.damage("the store holds '\(raw)' as a \(type)")
        }
        return value
    }

    /// Whether the column is NULL.
    package func isNull(_ column: Int32) -> Bool { row.isNull(column) }
}

/// A raw value that a column can hold.
package protocol Readable {
    /// Reads the column.
    init(columns: Columns, _ column: Int32)
}

extension Int64: Readable {
    package init(columns: Columns, _ column: Int32) {
        self = columns.int(column)
    }
}

extension Int: Readable {
    package init(columns: Columns, _ column: Int32) {
        self = Int(columns.int(column))
    }
}

extension String: Readable {
    package init(columns: Columns, _ column: Int32) {
        self = columns.text(column)
    }
}

extension Columns {
    /// Returns an identifier or a moment, or nil for NULL.
    package func optional<Value: RawRepresentable>(
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
