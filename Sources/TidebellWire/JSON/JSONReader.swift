// SPDX-License-Identifier: Apache-2.0

/// A strict pull reader over UTF-8 JSON.
///
/// The caller asks for what it expects and gets it, or a ``JSONError`` that names
/// the culprit. Nothing is built that nobody asked for: unknown members are
/// skipped without allocation. Nesting is bounded by ``maximumDepth``.
///
/// A reader is only valid inside the `read` call that made it.
package struct JSONReader {
    /// The deepest nesting accepted; the protocol itself needs 9.
    package static let maximumDepth = 64

    /// What the next value is, judged by its first byte.
    package enum Kind: String, Sendable {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case boolean = "a boolean"
        case null
    }

    let bytes: UnsafeBufferPointer<UInt8>
    /// Whether the runs of marks of its texts are put in order (``Swift/String/withOrderedMarks``).
    let ordersMarks: Bool
    var position = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, ordersMarks: Bool = true) {
        self.bytes = bytes
        self.ordersMarks = ordersMarks
    }

    /// What some programs put before a document that is UTF-8 in any case (RFC 8259, 8.1).
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads one whole document and refuses anything after it; a byte order mark before it is
    /// passed over. The marks of one that this server wrote are in order already.
    package static func read<Result>(
        _ document: [UInt8],
        ordersMarks: Bool = true,
        _ body: (inout JSONReader) throws -> Result
    ) throws -> Result {
        try document.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer, ordersMarks: ordersMarks)
            if buffer.first == byteOrderMark[0], buffer.starts(with: byteOrderMark) {
                reader.position = byteOrderMark.count
            }
            let result = try body(&reader)
            guard reader.skipSpace() == nil else {
                throw JSONError("unexpected text after the document at byte \(reader.position)")
            }
            return result
        }
    }

    /// Reads a text that the server gave out, such as a token; nil for `null` and for an empty one, which programs send
    /// for none whose language has no absent text.
    package mutating func readIssued() throws -> String? {
        let text = try readOptional { try $0.readString() }
        return text?.isEmpty == false ? text : nil
    }

    /// Returns what the next value is without consuming it.
    package mutating func kind() throws -> Kind {
        guard let byte = skipSpace() else { throw JSONError("unexpected end of the document") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw JSONError("unexpected character at byte \(position)")
        }
    }

    /// Reads an object, calling `member` with each name; `member` must consume
    /// the value. An empty array is an object without members: PHP writes it so.
    package mutating func readObject(
        _ member: (inout JSONReader, MemberName) throws -> Void
    ) throws {
        if skipEmptyArray() { return }
        try expect(.object)
        try enter()
        position += 1
        if skipSpace() == UInt8(ascii: "}") {
            position += 1
            depth -= 1
            return
        }
        while true {
            guard skipSpace() == UInt8(ascii: "\"") else {
                throw JSONError("expected a member name at byte \(position)")
            }
            let name = MemberName(try scanString())
            guard skipSpace() == UInt8(ascii: ":") else {
                throw JSONError("expected ':' after \"\(name)\" at byte \(position)")
            }
            position += 1
            do {
                try member(&self, name)
            } catch let error as JSONError {
                throw error.inside(name.text)
            }
            if try endsContainer(with: UInt8(ascii: "}")) { return }
        }
    }

    private mutating func skipEmptyArray() -> Bool {
        guard skipSpace() == UInt8(ascii: "[") else { return false }
        let start = position
        position += 1
        if skipSpace() == UInt8(ascii: "]") {
            position += 1
            return true
        }
        position = start
        return false
    }

    /// Reads an array, calling `element` before each element; `element` must
    /// consume it.
    package mutating func readArray(_ element: (inout JSONReader) throws -> Void) throws {
        try expect(.array)
        try enter()
        position += 1
        if skipSpace() == UInt8(ascii: "]") {
            position += 1
            depth -= 1
            return
        }
        var index = 0
        while true {
            do {
                try element(&self)
            } catch let error as JSONError {
                throw error.inside("[\(index)]")
            }
            index += 1
            if try endsContainer(with: UInt8(ascii: "]")) { return }
        }
    }

    /// Reads a string.
    package mutating func readString() throws -> String {
        try expect(.string)
        return try scanString()
    }

    /// The most bytes of a name: of the longest subscription ID, 255 scalars (SUB-28).
    /// What is longer than its own rule allows, but not this long, fails for its item only.
    package static let longestName = 1024

    /// Reads the name or the ID of something, of at most ``longestName`` bytes, so that
    /// nothing compares, hashes or repeats a longer one. What is written as the letters of
    /// ASCII becomes them (``String/withASCIILetters``).
    package mutating func readName() throws -> String {
        try expect(.string)
        let (name, isASCII) = try scanText()
        guard name.utf8.count <= Self.longestName else {
            throw JSONError(
                "'\(WireError.shortened(name))' has \(name.utf8.count) bytes, more than the "
                    + "\(Self.longestName) of a name"
            )
        }
        return isASCII ? name : name.withASCIILetters
    }

    /// Reads a name as ``readName()`` does; nil for an empty one, which programs send for none whose language
    /// has no absent text.
    package mutating func readNameIfAny() throws -> String? {
        let name = try readName()
        return name.isEmpty ? nil : name
    }

    /// Reads `true` or `false`, or 1 or 0, which Perl writes for them.
    package mutating func readBool() throws -> Bool {
        if try kind() == .number, let value = try readDigit(upTo: 1) { return value == 1 }
        try expect(.boolean)
        if bytes[position] == UInt8(ascii: "t") {
            try literal("true")
            return true
        }
        try literal("false")
        return false
    }

    private mutating func readDigit(upTo most: Int64) throws -> Int64? {
        let start = position
        if case .integer(let value) = try readNumber(), (0...most).contains(value) { return value }
        position = start
        return nil
    }

    /// Consumes a `null` if one is next; explicit nulls mean "absent" in the
    /// protocol (web-services 1.2).
    package mutating func readNull() throws -> Bool {
        guard try kind() == .null else { return false }
        try literal("null")
        return true
    }

    /// Reads a value with `read`, or returns nil for an explicit null.
    package mutating func readOptional<Value>(
        _ read: (inout JSONReader) throws -> Value
    ) throws -> Value? {
        try readNull() ? nil : try read(&self)
    }

    /// Reads an array of values.
    package mutating func readList<Value>(
        limit: Int = .max,
        _ read: (inout JSONReader) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try readArray { reader in
            guard values.count < limit else { throw JSONError("more than \(limit) items") }
            values.append(try read(&reader))
        }
        return values
    }

    /// Reads past the next value, checking its syntax.
    package mutating func skipValue() throws {
        switch try kind() {
        case .object: try skipObject()
        case .array: try readArray { reader in try reader.skipValue() }
        case .string: try skipString()
        case .number: _ = try readNumber()
        case .boolean: _ = try readBool()
        case .null: try literal("null")
        }
    }

    /// Reads past the next value and returns its text, byte for byte.
    package mutating func readRaw() throws -> [UInt8] {
        _ = try kind()
        let start = position
        try skipValue()
        return Array(bytes[start..<position])
    }

    /// Fails unless the next value is of `kind`.
    package mutating func expect(_ expected: Kind) throws {
        let found = try kind()
        guard found == expected else {
            throw JSONError("expected \(expected.rawValue), found \(found.rawValue)")
        }
    }

    // MARK: -

    /// Moves to the next byte that is not white space and returns it.
    mutating func skipSpace() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    /// Reads past an object without making its members' names, unless one is to blame.
    private mutating func skipObject() throws {
        try enter()
        position += 1
        if skipSpace() == UInt8(ascii: "}") {
            position += 1
            depth -= 1
            return
        }
        while true {
            guard skipSpace() == UInt8(ascii: "\"") else {
                throw JSONError("expected a member name at byte \(position)")
            }
            let start = position
            try skipString()
            guard skipSpace() == UInt8(ascii: ":") else {
                let name = try name(at: start)
                throw JSONError("expected ':' after \"\(name)\" at byte \(position)")
            }
            position += 1
            do {
                try skipValue()
            } catch let error as JSONError {
                throw error.inside(try name(at: start).text)
            }
            if try endsContainer(with: UInt8(ascii: "}")) { return }
        }
    }

    private func name(at start: Int) throws -> MemberName {
        var reader = self
        reader.position = start
        return MemberName(try reader.scanString())
    }

    private mutating func enter() throws {
        depth += 1
        guard depth <= Self.maximumDepth else {
            throw JSONError("nested deeper than \(Self.maximumDepth) levels")
        }
    }

    private mutating func endsContainer(with end: UInt8) throws -> Bool {
        let byte = skipSpace()
        if byte == end {
            position += 1
            depth -= 1
            return true
        }
        guard byte == UInt8(ascii: ",") else {
            throw JSONError("expected ',' or the end of the container at byte \(position)")
        }
        position += 1
        return false
    }

    private mutating func literal(_ text: StaticString) throws {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count,
            text.withUTF8Buffer({ $0.elementsEqual(bytes[position..<end]) })
        else {
            throw JSONError("expected \(text) at byte \(position)")
        }
        position = end
    }
}
