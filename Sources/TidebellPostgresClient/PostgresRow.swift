// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres

/// A row of a result; valid only in the closure that gets it.
///
/// Columns are numbered from 0. A value that cannot be read as asked reads as 0 or empty, and
/// the call that gave the row throws once the closure has returned.
package struct PostgresRow {
    /// What could not be read.
    final class Fault {
        var error: PostgresError?
    }

    /// The types that are read; the raw value is PostgreSQL's OID.
    private enum Read: UInt32 {
        case bool = 16
        case bytea = 17
        case name = 19
        case int8 = 20
        case int2 = 21
        case int4 = 23
        case text = 25
        case oid = 26
        case varchar = 1043
        case numeric = 1700
    }

    let result: OpaquePointer
    let index: Int32
    let fault: Fault

    /// How many columns there are.
    package var columnCount: Int { Int(PQnfields(result)) }

    /// Whether the column is NULL.
    package func isNull(_ column: Int) -> Bool { PQgetisnull(result, index, Int32(column)) != 0 }

    /// Returns a whole number: of int2, int4, int8, bool (0 or 1), oid, or of a numeric without a
    /// fraction, such as `sum(bigint)`; 0 for NULL.
    package func int(_ column: Int) -> Int64 {
        guard !isNull(column) else { return 0 }
        let bytes = bytes(column)
        switch Read(rawValue: PQftype(result, Int32(column))) {
        case .int8: return Int64(integer(bytes, as: Int64.self))
        case .int4: return Int64(integer(bytes, as: Int32.self))
        case .int2: return Int64(integer(bytes, as: Int16.self))
        case .oid: return Int64(integer(bytes, as: UInt32.self))
        case .bool: return Int64(integer(bytes, as: UInt8.self))
        case .numeric:
            guard let number = PostgresNumeric(bytes)?.integer else {
                return unreadable(column, as: "a whole number of 64 bits", 0)
            }
            return number
        default: return unreadable(column, as: "a whole number", 0)
        }
    }

    /// Returns a bool; false for NULL.
    package func bool(_ column: Int) -> Bool { int(column) != 0 }

    /// Returns the bytes of a bytea or text, which are libpq's and end with the closure; empty
    /// for NULL. Of another type: its binary form.
    package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, index, Int32(column)),
            count: Int(PQgetlength(result, index, Int32(column))))
    }

    /// Returns the text of a bytea or text: its bytes as UTF-8, with U+FFFD for what is none;
    /// empty for NULL.
    package func string(_ column: Int) -> String {
        switch Read(rawValue: PQftype(result, Int32(column))) {
        case .bytea, .text, .varchar, .name: String(decoding: bytes(column), as: UTF8.self)
        default: isNull(column) ? "" : unreadable(column, as: "a text", "")
        }
    }

    private func integer<Integer: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, as type: Integer.Type
    ) -> Integer {
        guard bytes.count == MemoryLayout<Integer>.size else { return 0 }
        return Integer(bigEndian: bytes.loadUnaligned(as: Integer.self))
    }

    private func unreadable<Value>(_ column: Int, as what: String, _ value: Value) -> Value {
        let name = PQfname(result, Int32(column)).map { String(cString: $0) } ?? "no column"
        fault.error =
            fault.error
            ?? PostgresError(
                .other,
                "column \(column) (\(name), type \(PQftype(result, Int32(column)))) is not \(what)"
            )
        return value
    }
}

/// A numeric in PostgreSQL's binary form: digits of base 10,000.
struct PostgresNumeric {
    /// The value where it is whole and fits; nil otherwise.
    let integer: Int64?

    /// Reads the value; nil for what is no numeric.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8, bytes.count.isMultiple(of: 2) else { return nil }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let sign = word(2)
        guard bytes.count == 8 + 2 * count else { return nil }
        guard sign == 0 || sign == 0x4000 else {
            integer = nil
            return
        }
        // Negative all the way: the lowest number has no positive counterpart.
        var number: Int64 = 0
        var fits = true
        if weight >= 0 {
            for place in 0...weight where fits {
                let digit = place < count ? Int64(word(4 + place)) : 0
                let (shifted, overflowed) = number.multipliedReportingOverflow(by: 10_000)
                let (sum, alsoOverflowed) = shifted.subtractingReportingOverflow(digit)
                fits = !overflowed && !alsoOverflowed
                number = sum
            }
        }
        let isWhole = (max(weight + 1, 0)..<max(count, weight + 1, 0)).allSatisfy {
            word(4 + $0) == 0
        }
        guard fits, isWhole, sign != 0 || number != Int64.min else {
            integer = nil
            return
        }
        integer = sign == 0 ? -number : number
    }
}
