// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite
import TidebellSQL
import TidebellWire

/// Makes SQLite copy text and blobs while they are bound.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension SQLValue {
    /// Binds the value to the parameter with this 1-based index and returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: return sqlite3_bind_null(statement, index)
        case .number(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            return text.withUTF8 {
                Self.bind(text: UnsafeRawBufferPointer($0), to: statement, at: index)
            }
        case .textBytes(let bytes):
            return bytes.withUnsafeBytes { Self.bind(text: $0, to: statement, at: index) }
        case .list(let list):
            return list.json.withUnsafeBytes { Self.bind(text: $0, to: statement, at: index) }
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
            return bytes.withUnsafeBytes { bytes in
                sqlite3_bind_blob64(
                    statement, index, bytes.baseAddress, sqlite3_uint64(bytes.count), transient)
            }
        }
    }

    private static func bind(
        text: UnsafeRawBufferPointer, to statement: OpaquePointer, at index: Int32
    ) -> Int32 {
        // An empty buffer may have no address, which SQLite takes for NULL.
        guard let start = text.baseAddress else {
            return sqlite3_bind_text(statement, index, "", 0, transient)
        }
        return sqlite3_bind_text64(
            statement, index, start.assumingMemoryBound(to: CChar.self),
            sqlite3_uint64(text.count), transient, UInt8(SQLITE_UTF8))
    }
}

extension SQLList {
    /// The list as `json_each` takes it: an array with a value for each row, or an array of its
    /// values.
    fileprivate var json: [UInt8] {
        if columns.count == 1 {
            switch columns[0] {
            case .numbers(let numbers):
                return JSONWriter.write(capacity: 2 + 10 * numbers.count) { writer in
                    writer.array(numbers) { $0.number($1) }
                }
            case .texts(let texts):
                return JSONWriter.write(capacity: 2 + 40 * texts.count) { writer in
                    writer.array(texts) { $0.cell($1) }
                }
            }
        }
        return JSONWriter.write(capacity: 2 + 40 * columns.count * rowCount) { writer in
            writer.array(0..<rowCount) { writer, row in
                writer.array(columns) { writer, column in
                    switch column {
                    case .numbers(let numbers): writer.number(numbers[row])
                    case .texts(let texts): writer.cell(texts[row])
                    }
                }
            }
        }
    }

    /// Returns a text without U+0000, which ``text(_:)`` undoes.
    fileprivate static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 1 }) else { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{0}": escaped.append(contentsOf: "\u{1}A".unicodeScalars)
            case "\u{1}": escaped.append(contentsOf: "\u{1}B".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

extension JSONWriter {
    /// Writes a text of a list, or null.
    fileprivate mutating func cell(_ text: String?) {
        if let text { string(SQLList.escaped(text)) } else { null() }
    }
}
