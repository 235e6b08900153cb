// SPDX-License-Identifier: Apache-2.0

/// A text by which something is found: the same as another one only if both are spelled with
/// the same code points, as in stores and in JSON (RFC 8259, 8.3).
///
/// Strings are also equal where only Unicode's canonical form is: two subscriptions whose
/// IDs are the composed and the decomposed "café" would be one where strings are the keys,
/// and two in the store.
package struct ExactText: Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The text.
    package let text: String

    /// Takes a text as it is.
    package init(_ text: String) {
        self.text = text
    }

    package init(stringLiteral text: String) {
        self.text = text
    }

    package var description: String { text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.count == right.text.utf8.count
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}
