// SPDX-License-Identifier: Apache-2.0

/// A word, number, text, sign or parameter of a statement, with the space before it.
struct SQLToken: Hashable {
    enum Kind: Hashable {
        case word, number, text, sign
        /// `?` or `?3`; with the number that SQLite gives it, from 1.
        case parameter(Int)
    }

    var kind: Kind
    var text: String
    var space: String

    /// Whether it is this keyword, name of a function or sign.
    func `is`(_ text: String) -> Bool {
        switch kind {
        case .word: self.text.lowercased() == text.lowercased()
        case .sign: self.text == text
        case .number, .text, .parameter: false
        }
    }

    /// Cuts a statement of SQLite's into its tokens.
    static func all(of sql: String) -> [SQLToken] {
        var tokens: [SQLToken] = []
        var greatest = 0
        var rest = Substring(sql).utf8
        func take(while holds: (UInt8) -> Bool) -> String {
            let end = rest.firstIndex { !holds($0) } ?? rest.endIndex
            defer { rest = rest[end...] }
            return String(Substring(rest[..<end]))
        }
        while true {
            let space = take { $0 == 0x20 || $0 == 0x0A || $0 == 0x09 }
            guard let first = rest.first else { return tokens }
            switch first {
            case UInt8(ascii: "?"):
                rest = rest.dropFirst()
                let digits = take { isDigit($0) }
                let number = Int(digits) ?? greatest + 1
                greatest = max(greatest, number)
                tokens.append(
                    SQLToken(kind: .parameter(number), text: "?\(number)", space: space))
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                rest = rest.dropFirst()
                let inside = take { $0 != first }
                rest = rest.dropFirst()
                let quote = String(UnicodeScalar(first))
                tokens.append(
                    SQLToken(
                        kind: first == UInt8(ascii: "'") ? .text : .word,
                        text: quote + inside + quote, space: space))
            case let byte where isLetter(byte):
                tokens.append(
                    SQLToken(kind: .word, text: take { isLetter($0) || isDigit($0) }, space: space))
            case let byte where isDigit(byte):
                tokens.append(
                    SQLToken(kind: .number, text: take { isDigit($0) }, space: space))
            default:
                let sign =
                    ["->>", "->", "<>", "<=", ">=", "||", "<<", ">>"].first {
                        rest.starts(with: $0.utf8)
                    } ?? String(UnicodeScalar(first))
                rest = rest.dropFirst(sign.utf8.count)
                tokens.append(SQLToken(kind: .sign, text: sign, space: space))
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
    }
}
