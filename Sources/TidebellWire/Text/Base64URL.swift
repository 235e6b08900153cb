// SPDX-License-Identifier: Apache-2.0

/// Base64 that needs no escaping in a URL and has no padding (RFC 4648, 5).
///
/// Written here because every poll carries a token each way, and Foundation's way to
/// this alphabet goes through four strings.
package enum Base64URL {
    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let digits = Array("\(letters)-_".utf8)
    private static let commonDigits = Array("\(letters)+/".utf8)
    /// What each byte of a text stands for; ``invalid`` for those outside the alphabet.
    private static let values = values(of: digits)
    /// The same for both alphabets.
    private static let eitherValues = zip(values, values(of: commonDigits)).map { min($0, $1) }
    private static let invalid: UInt8 = 0xFF

    private static func values(of digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }

    /// Returns the text of bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        String(decoding: text(bytes, in: digits), as: UTF8.self)
    }

    private static func text(_ bytes: [UInt8], in digits: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
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
        return text
    }

    /// Returns the text in the alphabet and with the padding that any library reads (RFC 4648, 4): clients decode
    /// what the server gives out, though it is opaque.
    package static func commonText(_ bytes: [UInt8]) -> String {
        var text = text(bytes, in: commonDigits)
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text that ``commonText(_:)`` or ``text(_:)`` wrote; nil for anything else.
    package static func bytes(ofEither text: String) -> [UInt8]? {
        guard text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return bytes(text) }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, text.utf8.count % 4 == 0 else { return nil }
        return bytes(text.utf8.dropLast(padding), by: eitherValues)
    }

    /// Returns the bytes of a text; nil for what ``text(_:)`` never writes.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        bytes(text.utf8, by: values)
    }

    private static func bytes(_ text: some Collection<UInt8>, by values: [UInt8]) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var bits = 0
        for digit in text {
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
