// SPDX-License-Identifier: Apache-2.0

/// A JSON number: an integer where its text is one that fits, else a double.
package enum JSONNumber: Sendable, Hashable {
    case integer(Int64)
    case double(Double)
}

extension JSONReader {
    /// Reads a number by the strict grammar (no leading zeros, no bare point).
    package mutating func readNumber() throws -> JSONNumber {
        try expect(.number)
        let start = position
        let isInteger = try scanNumber()
        let text = UnsafeBufferPointer(rebasing: bytes[start..<position])
        if isInteger, let value = Self.integer(text) { return .integer(value) }
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
            throw JSONError("a number is out of range at byte \(start)")
        }
        return .double(value)
    }

    /// Reads a whole number; `3.0` counts as one.
    package mutating func readInt64() throws -> Int64 {
        switch try readNumber() {
        case .integer(let value): return value
        case .double(let value):
            guard let whole = Int64(exactly: value) else {
                throw JSONError("expected a whole number, found \(value)")
            }
            return whole
        }
    }

    /// Reads a whole number that fits an `Int`.
    package mutating func readInt() throws -> Int {
        Int(try readInt64())
    }

    /// Reads a number as a double.
    package mutating func readDouble() throws -> Double {
        switch try readNumber() {
        case .integer(let value): return Double(value)
        case .double(let value): return value
        }
    }

    private mutating func scanNumber() throws -> Bool {
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let leading = position
        try scanDigits()
        if bytes[leading] == UInt8(ascii: "0"), position > leading + 1 {
            throw JSONError("a number has a leading zero at byte \(leading)")
        }
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try scanDigits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < bytes.count,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position += 1
            }
            try scanDigits()
        }
        return isInteger
    }

    private mutating func scanDigits() throws {
        let start = position
        while position < bytes.count,
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
        {
            position += 1
        }
        guard position > start else { throw JSONError("expected a digit at byte \(start)") }
    }

    private static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - UInt8(ascii: "0"))
            // Built on the negative side, which reaches one further.
            let (sum, overflowed) = product.subtractingReportingOverflow(digit)
            if overflow || overflowed { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }
}
