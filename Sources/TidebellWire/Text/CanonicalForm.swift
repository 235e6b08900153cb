// SPDX-License-Identifier: Apache-2.0

/// Texts in canonical decomposition (UAX #15, NFD), in a time that grows with their length
/// whatever they hold; pure functions of the text.
package enum CanonicalForm {
    /// Returns the text in canonical form: canonically equivalent texts have the same bytes.
    package static func utf8(of text: String) -> [UInt8] {
        isASCII(text) ? Array(text.utf8) : decomposed(text)
    }

    /// Returns the same without letter cases.
    package static func caselessUTF8(of text: String) -> [UInt8] {
        guard !isASCII(text) else { return text.utf8.map(lowercased) }
        let canonical = String(decoding: decomposed(text), as: UTF8.self)
        var table = UnicodeTable()
        var writer = CanonicalWriter(capacity: canonical.utf8.count)
        for scalar in canonical.unicodeScalars {
            let parts = table.caseless(scalar)
            if parts.isEmpty { writer.append(scalar) }
            for part in parts { writer.append(part) }
        }
        return writer.finish()
    }

    private static func decomposed(_ text: String) -> [UInt8] {
        var writer = CanonicalWriter(capacity: text.utf8.count)
        for scalar in text.unicodeScalars { writer.append(scalar) }
        return writer.finish()
    }

    /// Whether a scalar is a mark that combines with what stands before it.
    package static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= UnicodeTable.firstMark
            && scalar.properties.canonicalCombiningClass != .notReordered
    }

    private static func isASCII(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

/// Puts scalars into canonical form one after the other.
struct CanonicalWriter {
    private var bytes: [UInt8] = []
    /// The marks since the last letter, which are put in order when the next one comes.
    private var marks: [UnicodeTable.Part] = []
    private var areInOrder = true
    private var table = UnicodeTable()

    /// The first scalar that is written as others.
    private static let firstComposed: UInt32 = 0xC0

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ scalar: Unicode.Scalar) {
        guard scalar.value >= Self.firstComposed else { return append(scalar, class: 0) }
        let parts = table.decomposition(of: scalar)
        if parts.isEmpty { append(scalar, class: table.combiningClass(of: scalar)) }
        for part in parts { append(part.scalar, class: part.combiningClass) }
    }

    private mutating func append(_ scalar: Unicode.Scalar, class combiningClass: UInt8) {
        guard combiningClass > 0 else {
            return copy(scalar)
        }
        if let last = marks.last, last.combiningClass > combiningClass { areInOrder = false }
        marks.append(UnicodeTable.Part(scalar: scalar, combiningClass: combiningClass))
    }

    private mutating func writeMarks() {
        guard !marks.isEmpty else { return }
        // Marks of one class keep their order.
        if !areInOrder { marks.sort { $0.combiningClass < $1.combiningClass } }
        for mark in marks { write(mark.scalar) }
        marks.removeAll(keepingCapacity: true)
        areInOrder = true
    }

    /// Takes a scalar as it is.
    mutating func copy(_ scalar: Unicode.Scalar) {
        writeMarks()
        write(scalar)
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        let value = scalar.value
        func tail(_ shift: UInt32) -> UInt8 { UInt8(value >> shift & 0x3F | 0x80) }
        switch value {
        case ..<0x80: bytes.append(UInt8(value))
        case ..<0x800:
            bytes.append(UInt8(value >> 6 | 0xC0))
            bytes.append(tail(0))
        case ..<0x1_0000:
            bytes.append(UInt8(value >> 12 | 0xE0))
            bytes.append(tail(6))
            bytes.append(tail(0))
        default:
            bytes.append(UInt8(value >> 18 | 0xF0))
            bytes.append(tail(12))
            bytes.append(tail(6))
            bytes.append(tail(0))
        }
    }

    mutating func finish() -> [UInt8] {
        writeMarks()
        return bytes
    }
}
