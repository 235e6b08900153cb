// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Why bytes are not an archived object.
enum BlobError: Error, Equatable {
    /// The bytes end before the value does.
    case truncated
    /// A value is followed by bytes that belong to nothing.
    case trailingBytes
    /// The magic number, the version or the checksum is wrong.
    case damagedFrame
    /// The object is of another kind than the one asked for.
    case otherKind
    /// A value is outside what its field allows.
    case badValue
}

/// Reads the values of one archived object, in the order ``BlobWriter`` wrote them.
///
/// Every length is checked against the bytes that are left before it is used.
struct BlobReader {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int

    /// Reads `bytes` from `start` up to `end`.
    init(_ bytes: [UInt8], from start: Int = 0, upTo end: Int? = nil) {
        self.bytes = bytes
        position = start
        self.end = end ?? bytes.count
    }

    /// The number of bytes not read yet.
    var remaining: Int { end - position }

    /// Fails unless everything was read.
    func finish() throws(BlobError) {
        guard remaining == 0 else { throw .trailingBytes }
    }

    /// Reads one byte.
    mutating func byte() throws(BlobError) -> UInt8 {
        guard remaining >= 1 else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a truth value.
    mutating func bool() throws(BlobError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw .badValue
        }
    }

    /// Reads a 32-bit number.
    mutating func uint32() throws(BlobError) -> UInt32 {
        UInt32(truncatingIfNeeded: try number(bytes: 4))
    }

    /// Reads a 64-bit number.
    mutating func int64() throws(BlobError) -> Int64 {
        Int64(bitPattern: try number(bytes: 8))
    }

    /// Reads a number by its bit pattern.
    mutating func double() throws(BlobError) -> Double {
        Double(bitPattern: try number(bytes: 8))
    }

    /// Reads a text; fails when it is not UTF-8.
    mutating func string() throws(BlobError) -> String {
        let range = try rangeOfCounted()
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw .badValue }
        return text
    }

    /// Reads bytes.
    mutating func data() throws(BlobError) -> Data {
        Data(bytes[try rangeOfCounted()])
    }

    /// Reads a time.
    mutating func date() throws(BlobError) -> Date {
        Date(timeIntervalSinceReferenceDate: try double())
    }

    /// Reads the number of elements that follow, each of at least one byte.
    mutating func count() throws(BlobError) -> Int {
        let count = Int(try uint32())
        guard count <= remaining else { throw .truncated }
        return count
    }

    /// Reads a value that may be missing.
    mutating func optional<Value>(
        _ read: (inout BlobReader) throws(BlobError) -> Value
    ) throws(BlobError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    /// Reads a text that may be missing.
    mutating func optionalString() throws(BlobError) -> String? {
        try optional { reader throws(BlobError) in try reader.string() }
    }

    /// Reads texts.
    mutating func strings() throws(BlobError) -> [String] {
        var values: [String] = []
        for _ in 0..<(try count()) { values.append(try string()) }
        return values
    }

    private mutating func number(bytes width: Int) throws(BlobError) -> UInt64 {
        guard remaining >= width else { throw .truncated }
        defer { position += width }
        return bytes[position..<(position + width)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func rangeOfCounted() throws(BlobError) -> Range<Int> {
        let length = try count()
        defer { position += length }
        return position..<(position + length)
    }
}
