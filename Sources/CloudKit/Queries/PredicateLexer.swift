// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A word, sign or constant of a predicate format.
enum PredicateToken: Equatable {
    /// A keyword, a key path, or the name of a function with its colons.
    case word(String)
    /// A key path that is no keyword because `#` stands before it.
    case escapedWord(String)
    /// A text in quotation marks.
    case text(String)
    case number(CKRecord.FieldValue)
    /// A conversion such as `%@`: its letter, and which argument it asks for, from 0;
    /// nil for the next.
    case argument(UInt8, index: Int?)
    /// `$name`.
    case variable(String)
    case symbol(String)
    case end
}

/// Splits a predicate format into tokens.
struct PredicateLexer {
    private let bytes: [UInt8]
    private let format: String
    /// Where the token that was read last begins, in bytes.
    private(set) var start = 0
    private var position = 0

    /// Reads `format` from its beginning.
    init(_ format: String) {
        self.format = format
        bytes = Array(format.utf8)
    }

    /// Returns the next token.
    mutating func next() throws(PredicateFormatError) -> PredicateToken {
        while let byte = current, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
        start = position
        guard let byte = current else { return .end }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try text(endingWith: byte))
        case UInt8(ascii: "%"): return try argument()
        case UInt8(ascii: "$"):
            position += 1
            return .variable(try identifier())
        case UInt8(ascii: "#"):
            position += 1
            return .escapedWord(try path())
        case UInt8(ascii: ".") where peek(1).map(Self.beginsWord) == true: return try symbol()
        case UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            return Self.beginsWord(byte) ? .word(try path()) : try symbol()
        }
    }

    /// The token that was read last, as it stands in the format.
    var spelling: String { String(decoding: bytes[start..<position], as: UTF8.self) }

    /// Creates the error of the token that was read last.
    func failure(_ reason: String) -> PredicateFormatError {
        // NB: `start` is always at the beginning of a token, never inside a character.
        let before = String(decoding: bytes[..<start], as: UTF8.self)
        return PredicateFormatError(format: format, position: before.count, reason: reason)
    }

    // MARK: - Words

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private static func beginsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "@"), 0x80...:
            true
        default: false
        }
    }

    private static func continuesWord(_ byte: UInt8) -> Bool {
        (byte != UInt8(ascii: "@") && beginsWord(byte))
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Reads a name: letters, digits, underscores.
    private mutating func identifier() throws(PredicateFormatError) -> String {
        let begin = position
        guard let first = current, Self.beginsWord(first) else {
            throw failure("expected a name")
        }
        position += 1
        while let byte = current, Self.continuesWord(byte) { position += 1 }
        return String(decoding: bytes[begin..<position], as: UTF8.self)
    }

    /// Reads names with dots between them, or a function's name with its colons.
    private mutating func path() throws(PredicateFormatError) -> String {
        var path = try identifier()
        while current == UInt8(ascii: "."), let byte = peek(1), Self.beginsWord(byte) {
            position += 1
            path += "." + (try identifier())
        }
        while current == UInt8(ascii: ":"), peek(1) != UInt8(ascii: "=") {
            position += 1
            path += ":"
            if let byte = current, Self.beginsWord(byte) { path += try identifier() }
        }
        return path
    }

    // MARK: - Texts

    private mutating func text(endingWith quote: UInt8) throws(PredicateFormatError) -> String {
        position += 1
        var content: [UInt8] = []
        while let byte = current {
            position += 1
            if byte == quote { return String(decoding: content, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &content)
            } else {
                content.append(byte)
            }
        }
        throw failure("the text has no end")
    }

    private mutating func escape(into content: inout [UInt8]) throws(PredicateFormatError) {
        guard let byte = current else { throw failure("the text has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = bytes[position..<min(position + 4, bytes.count)]
            guard digits.count == 4,
                let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(code)
            else { throw failure("the text has a \\u that is not followed by a character's code") }
            position += 4
            content.append(contentsOf: String(scalar).utf8)
        default: content.append(byte)
        }
    }

    // MARK: - Numbers

    private mutating func number() throws(PredicateFormatError) -> PredicateToken {
        let begin = position
        if let radix {
            position += 2
            takeWord()
            let digits = String(decoding: bytes[(begin + 2)..<position], as: UTF8.self)
            guard let value = Int64(digits, radix: radix) else {
                throw failure("expected a number of base \(radix)")
            }
            return .number(.int64(value))
        }
        takeDigits()
        if current == UInt8(ascii: "."), let digit = peek(1), Self.isDigit(digit) {
            position += 1
            takeDigits()
        }
        takeExponent()
        let digits = String(decoding: bytes[begin..<position], as: UTF8.self)
        if let value = Int64(digits) { return .number(.int64(value)) }
        guard let value = Double(digits), value.isFinite else {
            throw failure("expected a number")
        }
        return .number(.double(value))
    }

    /// The base `0x`, `0o` or `0b` announces; nil for decimal numbers.
    private var radix: Int? {
        guard current == UInt8(ascii: "0"), let mark = peek(1) else { return nil }
        return switch mark | 0x20 {
        case UInt8(ascii: "x"): 16
        case UInt8(ascii: "o"): 8
        case UInt8(ascii: "b"): 2
        default: nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func takeDigits() {
        while let byte = current, Self.isDigit(byte) { position += 1 }
    }

    private mutating func takeWord() {
        while let byte = current, Self.continuesWord(byte) { position += 1 }
    }

    private mutating func takeExponent() {
        guard let mark = current, mark | 0x20 == UInt8(ascii: "e"), let next = peek(1) else {
            return
        }
        let isSigned = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
        guard let digit = isSigned ? peek(2) : next, Self.isDigit(digit) else { return }
        position += isSigned ? 2 : 1
        takeDigits()
    }

    // MARK: - Signs

    /// Reads a conversion: `%@`, `%K`, or one of `printf`, with its flags and sizes.
    private mutating func argument() throws(PredicateFormatError) -> PredicateToken {
        position += 1
        var index: Int?
        let begin = position
        takeDigits()
        if position > begin, current == UInt8(ascii: "$") {
            let digits = String(decoding: bytes[begin..<position], as: UTF8.self)
            guard let number = Int(digits), number > 0 else {
                throw failure("expected the number of an argument, from 1")
            }
            index = number - 1
            position += 1
        }
        while let byte = current, "0123456789.+- hlqzjtL".utf8.contains(byte) { position += 1 }
        guard let letter = current, "@KdDiuUxXoOfFeEgGaAcCsSp%".utf8.contains(letter) else {
            throw failure("expected a conversion such as %@ or %K")
        }
        position += 1
        return .argument(letter, index: index)
    }

    /// The signs, longer ones before those they begin with.
    private static let symbols = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**", ":=",
        "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/",
    ]

    private mutating func symbol() throws(PredicateFormatError) -> PredicateToken {
        let rest = bytes[position...]
        guard let symbol = Self.symbols.first(where: { rest.starts(with: $0.utf8) }) else {
            throw failure("'\(Character(Unicode.Scalar(bytes[position])))' has no meaning")
        }
        position += symbol.utf8.count
        return .symbol(symbol)
    }
}
