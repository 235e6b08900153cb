// SPDX-License-Identifier: Apache-2.0

/// Bytes as lower-case hexadecimal digits.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the text of bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self
        )
    }

    /// Returns the bytes of a text, in digits of either case; nil for any other text.
    package static func bytes(_ text: Substring) -> [UInt8]? {
        let values = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8(values[$0] << 4 | values[$0 + 1])
        }
    }
}
