// SPDX-License-Identifier: Apache-2.0

/// A place in a file of a schema; both count from 1, columns in bytes.
package struct SchemaPosition: Sendable, Hashable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}

/// What is wrong with a file of a schema, and where.
package struct SchemaSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    package var position: SchemaPosition
    /// What was expected there, or is wrong.
    package var problem: String

    package init(_ position: SchemaPosition, _ problem: String) {
        self.position = position
        self.problem = problem
    }

    package var description: String { "\(position): \(problem)" }
}

/// Takes the text of a schema apart, without comments, a token at a time.
struct SchemaLexer {
    enum Token: Hashable {
        case word(String)
        /// A name in double quotes, which is no keyword.
        case quoted(String)
        /// One of `( ) , ; < >`.
        case mark(Character)
        case end

        /// The token as an error names it.
        var text: String {
            switch self {
            case .word(let word): "'\(word)'"
            case .quoted(let name): "\"\(name)\""
            case .mark(let mark): "'\(mark)'"
            case .end: "the end of the file"
            }
        }
    }

    /// The longest word: names are shorter.
    private static let longestWord = 1024

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var lineStart = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Where the next byte is.
    private var position: SchemaPosition {
        SchemaPosition(line: line, column: index - lineStart + 1)
    }

    /// Returns the next token and where it begins.
    mutating func next() throws(SchemaSyntaxError) -> (Token, SchemaPosition) {
        try skipSpace()
        let start = position
        guard index < bytes.count else { return (.end, start) }
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\""): return (.quoted(try quoted(from: start)), start)
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "<"), UInt8(ascii: ">"):
            index += 1
            return (.mark(Character(UnicodeScalar(byte))), start)
        default: return (.word(try word(from: start)), start)
        }
    }

    private mutating func word(
        from start: SchemaPosition
    ) throws(SchemaSyntaxError) -> String {
        let first = index
        while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
        guard index > first else {
            throw SchemaSyntaxError(
                start, "a character that no schema has; names are letters, digits and underscores")
        }
        return try text(first..<index, at: start)
    }

    private mutating func quoted(
        from start: SchemaPosition
    ) throws(SchemaSyntaxError) -> String {
        index += 1
        let first = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "\""),
            bytes[index] != UInt8(ascii: "\n")
        {
            index += 1
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
            throw SchemaSyntaxError(start, "the quoted name has no end on its line")
        }
        defer { index += 1 }
        return try text(first..<index, at: start)
    }

    private func text(
        _ range: Range<Int>, at start: SchemaPosition
    ) throws(SchemaSyntaxError) -> String {
        guard range.count <= Self.longestWord else {
            throw SchemaSyntaxError(
                start, "a name of \(range.count) bytes; none has more than \(Self.longestWord)")
        }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    private mutating func skipSpace() throws(SchemaSyntaxError) {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\n"): step()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): index += 1
            case UInt8(ascii: "/") where follows(UInt8(ascii: "/")),
                UInt8(ascii: "-") where follows(UInt8(ascii: "-")):
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            case UInt8(ascii: "/") where follows(UInt8(ascii: "*")): try skipComment()
            // A byte order mark, as some editors write it.
            case 0xEF where index == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]): index = 3
            default: return
            }
        }
    }

    private mutating func skipComment() throws(SchemaSyntaxError) {
        let start = position
        index += 2
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "*"), follows(UInt8(ascii: "/")) {
                index += 2
                return
            }
            step()
        }
        throw SchemaSyntaxError(start, "the comment has no end; write */ behind it")
    }

    /// Goes on by a byte, which may end a line.
    private mutating func step() {
        index += 1
        guard bytes[index - 1] == UInt8(ascii: "\n") else { return }
        line += 1
        lineStart = index
    }

    private func follows(_ byte: UInt8) -> Bool {
        index + 1 < bytes.count && bytes[index + 1] == byte
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
