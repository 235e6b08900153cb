// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
    /// Reads a string whose opening quote is the next byte.
    mutating func scanString() throws -> String {
        try scanText().text
    }

    /// Reads a string, and says whether it was seen to be ASCII.
    mutating func scanText() throws -> (text: String, isASCII: Bool) {
        position += 1
        let start = position
        var bits = passPlainWords()
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let utf8 = UnsafeBufferPointer(rebasing: bytes[start..<position])
                // Nearly all are ASCII, which is valid UTF-8 and has no marks.
                let text = bits < 0x80 ? String(decoding: utf8, as: UTF8.self) : try text(utf8)
                position += 1
                return (text, bits < 0x80)
            }
            if byte == UInt8(ascii: "\\") { return (try scanEscapedString(from: start), false) }
            guard byte >= 0x20 else {
                throw JSONError("control character in a string at byte \(position)")
            }
            bits |= byte
            position += 1
        }
        throw JSONError("unterminated string")
    }

    /// Reads past a string, checking escapes and encoding; makes no text unless it must.
    mutating func skipString() throws {
        let start = position
        position += 1
        var bits = passPlainWords()
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\""), bits < 0x80 {
                position += 1
                return
            }
            // The careful way, from the beginning.
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            bits |= byte
            position += 1
        }
        position = start
        _ = try scanString()
    }

    /// Moves past bytes that stand for themselves in a string, eight at a time, and returns 0x80 where one was not ASCII,
    /// else 0: long texts are most of what is read.
    private mutating func passPlainWords() -> UInt8 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var seen: UInt64 = 0
        while position + 8 <= bytes.count {
            let word = UnsafeRawBufferPointer(bytes).loadUnaligned(
                fromByteOffset: position, as: UInt64.self)
            // The high bit of a byte is set where it is one of those; a borrow may set that of a byte behind it, too.
            let quotes = word ^ (ones &* 0x22)
            let escapes = word ^ (ones &* 0x5C)
            let special =
                ((quotes &- ones) & ~quotes) | ((escapes &- ones) & ~escapes)
                | ((word &- ones &* 0x20) & ~word)
            guard special & highs == 0 else { break }
            seen |= word
            position += 8
        }
        return seen & highs == 0 ? 0 : 0x80
    }

    private mutating func scanEscapedString(from start: Int) throws -> String {
        var unescaped = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return try unescaped.withUnsafeBufferPointer { try text($0) }
            case UInt8(ascii: "\\"):
                try scanEscape(into: &unescaped)
            case 0..<0x20:
                throw JSONError("control character in a string at byte \(position - 1)")
            default:
                unescaped.append(byte)
            }
        }
        throw JSONError("unterminated string")
    }

    private mutating func scanEscape(into text: inout [UInt8]) throws {
        guard position < bytes.count else { throw JSONError("unterminated string") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try scanUnicodeEscape()).utf8)
        default: throw JSONError("unknown escape in a string at byte \(position - 1)")
        }
    }

    private mutating func scanUnicodeEscape() throws -> Unicode.Scalar {
        let first = try scanHexQuad()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // A high surrogate is only half a character: its low half must follow.
        guard (0xD800..<0xDC00).contains(first), position + 1 < bytes.count,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError("unpaired surrogate in a string at byte \(position)") }
        position += 2
        let second = try scanHexQuad()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw JSONError("unpaired surrogate in a string at byte \(position)") }
        return scalar
    }

    private mutating func scanHexQuad() throws -> UInt32 {
        guard position + 4 <= bytes.count else { throw JSONError("unterminated string") }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw JSONError("bad \\u escape at byte \(position)")
            }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    private func text(_ utf8: UnsafeBufferPointer<UInt8>) throws -> String {
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw JSONError("a string is not valid UTF-8")
        }
        return ordersMarks ? text.withOrderedMarks : text
    }
}
