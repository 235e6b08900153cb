// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Any JSON value: what the reader and Foundation are compared by.
enum JSONTree: Equatable, CustomStringConvertible {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// Reads any value with the reader under test.
    init(from reader: inout JSONReader) throws {
        switch try reader.kind() {
        case .null:
            _ = try reader.readNull()
            self = .null
        case .boolean: self = .boolean(try reader.readBool())
        case .string: self = .string(try reader.readString())
        case .number:
            switch try reader.readNumber() {
            case .integer(let value): self = .integer(value)
            case .double(let value): self = .double(value)
            }
        case .array: self = .array(try reader.readList { try JSONTree(from: &$0) })
        case .object:
            var members: [String: JSONTree] = [:]
            try reader.readObject { members[$1.text] = try JSONTree(from: &$0) }
            self = .object(members)
        }
    }

    /// Reads a whole document with the reader under test.
    static func read(_ document: [UInt8]) throws -> JSONTree {
        try JSONReader.read(document) { try JSONTree(from: &$0) }
    }

    /// Reads a whole document with Foundation.
    static func readByFoundation(_ document: [UInt8]) throws -> JSONTree {
        JSONTree(
            try JSONSerialization.jsonObject(with: Data(document), options: .fragmentsAllowed)
        )
    }

    private init(_ value: Any) {
        switch value {
        case is NSNull: self = .null
        case let text as String: self = .string(text)
        case let list as [Any]: self = .array(list.map(JSONTree.init))
        case let members as [String: Any]: self = .object(members.mapValues(JSONTree.init))
        case let number as NSNumber: self = JSONTree(number)
        default: preconditionFailure("\(type(of: value)) is no JSON value")
        }
    }

    private init(_ number: NSNumber) {
        if number.isEqual(to: NSNumber(value: number.boolValue)),
            String(cString: number.objCType) == "c"
        {
            self = .boolean(number.boolValue)
        } else if number.doubleValue.magnitude < 0x1p63,
            NSNumber(value: number.int64Value).isEqual(to: number)
        {
            self = .integer(number.int64Value)
        } else {
            self = .double(number.doubleValue)
        }
    }

    /// The same tree with every number that is whole as an integer, since
    /// Foundation does not distinguish `1` from `1.0`.
    var normalized: JSONTree {
        switch self {
        case .double(let value): Int64(exactly: value).map(JSONTree.integer) ?? self
        case .array(let list): .array(list.map(\.normalized))
        case .object(let members): .object(members.mapValues(\.normalized))
        default: self
        }
    }

    /// Whether this is `other`, give or take the last digits of a double, which
    /// Foundation on Linux gets wrong.
    func matches(_ other: JSONTree) -> Bool {
        switch (self, other) {
        case (.double(let one), .double(let other)): return one.isNear(other)
        case (.double(let one), .integer(let other)): return one.isNear(Double(other))
        case (.integer(let one), .double(let other)): return Double(one).isNear(other)
        case (.array(let one), .array(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { $0.matches($1) }
        case (.object(let one), .object(let other)):
            return one.keys == other.keys
                && one.allSatisfy { other[$0.key].map($0.value.matches) ?? false }
        default: return self == other
        }
    }

    var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let text): "\"\(text)\""
        case .array(let list): "\(list)"
        case .object(let members): "\(members.sorted { $0.key < $1.key })"
        }
    }
}

extension Double {
    fileprivate func isNear(_ other: Double) -> Bool {
        abs(self - other) <= 1e-14 * max(abs(self), abs(other)) + 1e-300
    }
}

/// Returns the UTF-8 bytes of `text`.
func utf8(_ text: String) -> [UInt8] {
    Array(text.utf8)
}

/// Returns the text that `body` writes.
func written(_ body: (inout JSONWriter) -> Void) -> String {
    String(decoding: JSONWriter.write(body), as: UTF8.self)
}

/// Returns the description of the error `body` fails with; nil when it succeeds.
func failure(reading document: String, _ body: (inout JSONReader) throws -> Void) -> String? {
    do {
        try JSONReader.read(utf8(document), body)
        return nil
    } catch {
        return "\(error)"
    }
}
