// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes the values of one archived object as bytes.
///
/// Numbers are big-endian; strings and bytes carry a 32-bit length in front. The
/// frame around the values is ``ArchiveBlob``.
struct BlobWriter {
    /// What was written so far.
    private(set) var bytes: [UInt8] = []

    /// Writes one byte.
    mutating func write(byte: UInt8) {
        bytes.append(byte)
    }

    /// Writes true as 1, false as 0.
    mutating func write(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// Writes a 32-bit number.
    mutating func write(_ value: UInt32) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes a 64-bit number.
    mutating func write(_ value: Int64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes the bit pattern of a number.
    mutating func write(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Writes the length in UTF-8 and the text.
    mutating func write(_ value: String) {
        write(count: value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// Writes the length and the bytes.
    mutating func write(_ value: Data) {
        write(count: value.count)
        bytes.append(contentsOf: value)
    }

    /// Writes the seconds since 2001.
    mutating func write(_ value: Date) {
        write(value.timeIntervalSinceReferenceDate)
    }

    /// Writes the number of elements that follow.
    mutating func write(count: Int) {
        precondition(count <= ArchiveBlob.maximumSize, "An archived object exceeds 1 GiB.")
        write(UInt32(count))
    }

    /// Writes whether there is a value, and the value.
    mutating func write<Value>(
        _ value: Value?,
        with body: (inout BlobWriter, Value) -> Void
    ) {
        write(value != nil)
        if let value { body(&self, value) }
    }

    /// Writes whether there is a text, and the text.
    mutating func write(_ value: String?) {
        write(value) { $0.write($1) }
    }

    /// Writes the number of texts, and the texts.
    mutating func write(_ values: [String]) {
        write(count: values.count)
        for value in values { write(value) }
    }
}
