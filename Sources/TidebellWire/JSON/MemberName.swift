// SPDX-License-Identifier: Apache-2.0

/// The name of an object's member, as it is read.
///
/// Two are the same if they are spelled with the same code points (RFC 8259, 8.3). Strings
/// are also equal where only Unicode's canonical form is, which a name of JSON is not.
package struct MemberName: Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The most bytes of a name that is kept whole: those of the longest name of a field
    /// (LIMIT-11). Known names are shorter; a longer one ends with "...", by which it is
    /// none of them, nor the name of a field.
    package static let mostBytes = 255

    /// The name.
    package let text: String

    /// Takes a name as it was read.
    init(_ text: String) {
        self.text = WireError.shortened(text, to: Self.mostBytes)
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package var description: String { text }

    package static func == (left: MemberName, right: MemberName) -> Bool {
        left.text.utf8.count == right.text.utf8.count
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}
