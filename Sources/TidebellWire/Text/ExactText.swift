// SPDX-License-Identifier: Apache-2.0
import Foundation

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
        // Most that are not the same have another length, which is known without looking at the bytes.
        let count = left.text.utf8.count
        guard count == right.text.utf8.count else { return false }
        guard count > 0 else { return true }
        return left.withBytes { left in
            right.withBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else {
                    return false
                }
                return memcmp(left, right, count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(text.utf8).withUnsafeBufferPointer(body)
    }
}
