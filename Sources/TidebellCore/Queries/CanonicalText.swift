// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A text as it is compared: texts that are written with other scalars for the same characters
/// are one. Comparing looks at bytes and ends with the first that differs.
struct CanonicalText: Sendable {
    /// Canonical form, as UTF-8.
    let utf8: [UInt8]

    /// Creates the text as it is written (QUERY-8: names of records, prefixes).
    init(_ text: String) { utf8 = CanonicalForm.utf8(of: text) }

    /// Creates the text without its letter cases (QUERY-8: equality, order).
    init(caseless text: String) { utf8 = CanonicalForm.caselessUTF8(of: text) }

    private init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// The text in canonical form.
    var string: String { String(decoding: utf8, as: UTF8.self) }

    /// Whether the text begins with another, and no mark of what follows belongs to its last
    /// character.
    func begins(with start: CanonicalText) -> Bool {
        guard start.utf8.count <= utf8.count, utf8.starts(with: start.utf8) else { return false }
        let next = String(decoding: utf8[start.utf8.count...].prefix(4), as: UTF8.self)
        return start.utf8.isEmpty || next.unicodeScalars.first.map(CanonicalForm.isMark) != true
    }

    /// Returns what it begins with, so many scalars.
    func prefix(_ scalars: Int) -> CanonicalText {
        guard utf8.count > scalars else { return self }
        var left = scalars
        let end = utf8.firstIndex { byte in
            // All bytes of a scalar but the first begin with these bits.
            if byte & 0xC0 != 0x80 { left -= 1 }
            return left < 0
        }
        return CanonicalText(utf8: Array(utf8[..<(end ?? utf8.endIndex)]))
    }
}

extension CanonicalText: Hashable {
    func hash(into hasher: inout Hasher) {
        utf8.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension CanonicalText: Comparable {
    static func < (left: CanonicalText, right: CanonicalText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
