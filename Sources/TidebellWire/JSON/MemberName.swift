// SPDX-License-Identifier: Apache-2.0

/// The name of an object's member, as it is read: compared by its code points.
package struct MemberName: Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The most bytes of a name that is kept whole: those of the longest name of a field
    /// (LIMIT-11). Known names are shorter; a longer one ends with "...", by which it is
    /// none of them, nor the name of a field.
    package static let mostBytes = 255

    private let exact: ExactText

    /// The name.
    package var text: String { exact.text }

    /// Takes a name as it was read.
    init(_ text: String) {
        // Nearly all are: to have each one shortened took a fiftieth of reading a record.
        let isWhole = text.utf8.count <= Self.mostBytes
        exact = ExactText(isWhole ? text : WireError.shortened(text, to: Self.mostBytes))
    }

    package init(stringLiteral text: String) {
        exact = ExactText(text)
    }

    package var description: String { text }
}
