// SPDX-License-Identifier: Apache-2.0

/// Some bytes that are looked for in others, such as a key in a record's fields.
///
/// The standard library's search is generic and cost half of a batch of saves. This is
/// Horspool's: it looks at the byte under the pattern's end and moves on by as much as
/// the pattern allows, so that most bytes are never read.
package struct BytePattern: Sendable {
    private let pattern: [UInt8]
    /// How far the pattern may move when a byte stands under its end.
    private let shifts: [Int]

    /// Creates a pattern of a text's UTF-8, which is not empty.
    package init(_ text: String) {
        precondition(!text.isEmpty, "an empty pattern is everywhere")
        let pattern = Array(text.utf8)
        var shifts = [Int](repeating: pattern.count, count: 256)
        for (index, byte) in pattern.dropLast().enumerated() {
            shifts[Int(byte)] = pattern.count - 1 - index
        }
        self.pattern = pattern
        self.shifts = shifts
    }

    /// Whether the pattern stands somewhere in `bytes`.
    package func isFound(in bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            pattern.withUnsafeBufferPointer { pattern in
                shifts.withUnsafeBufferPointer { shifts in
                    Self.search(bytes, for: pattern, shifts)
                }
            }
        }
    }

    private static func search(
        _ bytes: UnsafeBufferPointer<UInt8>, for pattern: UnsafeBufferPointer<UInt8>,
        _ shifts: UnsafeBufferPointer<Int>
    ) -> Bool {
        let last = pattern.count - 1
        var end = last
        while end < bytes.count {
            var matched = 0
            while matched <= last, bytes[end - matched] == pattern[last - matched] { matched += 1 }
            if matched > last { return true }
            end += shifts[Int(bytes[end])]
        }
        return false
    }
}
