// SPDX-License-Identifier: Apache-2.0

/// Base64 that needs no escaping in a URL and has no padding (RFC 4648, 5).
///
/// Written here because every poll carries a token each way, and Foundation's way to
/// this alphabet goes through four strings.
package enum Base64URL {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
    /// What each byte of a text stands for; ``invalid`` for those outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
    private static let invalid: UInt8 = 0xFF

    /// Returns the text of bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var bits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(pending >> UInt32(bits) & 0x3F)])
            }
        }
        if bits > 0 { text.append(digits[Int(pending << UInt32(6 - bits) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the text in the alphabet and with the padding that any library reads (RFC 4648, 4): clients decode
    /// what the server gives out, though it is opaque.
    package static func commonText(_ bytes: [UInt8]) -> String {
        var text = text(bytes).replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text.append("=") }
        return text
    }

    /// Returns the bytes of a text that ``commonText(_:)`` or ``text(_:)`` wrote; nil for anything else.
    package static func bytes(ofEither text: String) -> [UInt8]? {
        guard text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return bytes(text) }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, text.utf8.count % 4 == 0 else { return nil }
        return bytes(
            text.dropLast(padding).replacing("+", with: "-").replacing("/", with: "_"))
    }

    /// Returns the bytes of a text; nil for what ``text(_:)`` never writes.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for digit in text.utf8 {
            let value = values[Int(digit)]
            guard value != invalid else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        // Bits that no byte takes are zero, so that each sequence of bytes has one text.
        guard pending & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
