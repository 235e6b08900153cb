// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Field {
    /// Reads `{"value", "type"?, "isEncrypted"?, "nanoseconds"?}`.
    ///
    /// Returns nil for a field to remove: `value` null or absent (web-services
    /// 4.3). Without a tag the type follows from the JSON.
    package static func read(from reader: inout JSONReader) throws -> Field? {
        try readTagged(from: &reader).field
    }

    /// Reads a field, and returns whether it came with its type.
    static func readTagged(
        from reader: inout JSONReader
    ) throws -> (field: Field?, isTagged: Bool) {
        var value: FieldValue?
        var type: FieldType?
        var (isEncrypted, hasEncryptedTag) = (false, false)
        var nanoseconds: [Int64] = []
        try reader.readObject { reader, name in
            switch name {
            case "value": value = try reader.readOptional(FieldValue.readUntyped)
            case "type":
                guard let tag = try reader.readOptional({ try $0.readNameIfAny() }) ?? nil else {
                    return
                }
                type = FieldType(tag: tag)
                hasEncryptedTag = tag.hasPrefix(FieldType.encryptedPrefix)
                guard type != nil else { throw JSONError("unknown field type \"\(tag)\"") }
            case "isEncrypted": isEncrypted = try reader.readOptional { try $0.readBool() } ?? false
            case "nanoseconds": nanoseconds = try readNanoseconds(from: &reader)
            default: try reader.skipValue()
            }
        }
        guard let value else { return (nil, type != nil) }
        let typed = try type.map(value.coerced(to:)) ?? value.settled()
        guard nanoseconds.isEmpty || nanoseconds.count == typed.timeCount else {
            throw JSONError("\(nanoseconds.count) nanoseconds for \(typed.timeCount) times")
        }
        let field = Field(
            typed, isEncrypted: isEncrypted || hasEncryptedTag, nanoseconds: nanoseconds)
        return (field, type != nil)
    }

    private static func readNanoseconds(from reader: inout JSONReader) throws -> [Int64] {
        guard try !reader.readNull() else { return [] }
        let isList = try reader.kind() == .array
        let numbers =
            isList ? try reader.readList { try $0.readInt64() } : [try reader.readInt64()]
        guard numbers.allSatisfy({ $0.magnitude <= maximumNanoseconds.magnitude }) else {
            throw JSONError("nanoseconds beyond the millisecond")
        }
        return numbers
    }

    /// Writes the field with its tag; `numbersAsStrings` writes INT64 as text.
    package func write(to writer: inout JSONWriter, numbersAsStrings: Bool = false) {
        writer.object { writer in
            writer.key("value")
            value.write(to: &writer, numbersAsStrings: numbersAsStrings)
            if let type = value.type { writer.member("type", type.rawValue) }
            if isEncrypted { writer.member("isEncrypted", true) }
            writeNanoseconds(to: &writer)
        }
    }

    private func writeNanoseconds(to writer: inout JSONWriter) {
        guard let first = nanoseconds.first else { return }
        writer.key("nanoseconds")
        if case .list = value {
            writer.array(nanoseconds) { $0.number($1) }
        } else {
            writer.number(first)
        }
    }
}

extension FieldValue {
    /// Reads a value by its JSON shape alone.
    static func readUntyped(from reader: inout JSONReader) throws -> FieldValue {
        switch try reader.kind() {
        case .string: return .string(try reader.readString())
        case .number:
            switch try reader.readNumber() {
            case .integer(let value): return .int64(value)
            case .double(let value): return .double(value)
            }
        case .object: return try readObject(from: &reader)
        case .array: return try readList(from: &reader)
        case .boolean: throw JSONError("CloudKit has no boolean type; use INT64 0 or 1")
        case .null: throw JSONError("null inside a list")
        }
    }

    private static func readList(from reader: inout JSONReader) throws -> FieldValue {
        let elements = try reader.readList { try readUntyped(from: &$0) }
        guard elements.allSatisfy({ $0.type?.list != nil }) else {
            throw JSONError("a list cannot contain lists")
        }
        let type = elements.first?.type
        // Several types: what the list is waits for the tag, which may follow.
        return .list(elements.allSatisfy { $0.type == type } ? type?.list : nil, elements)
    }

    /// Returns the value without help of a tag: `[1, 2.5]` is a list of doubles,
    /// any other mixture is an error.
    fileprivate func settled() throws -> FieldValue {
        guard case .list(nil, let elements) = self, !elements.isEmpty else { return self }
        let types = Set(elements.compactMap { $0.type?.rawValue }).sorted()
        guard types == [FieldType.double.rawValue, FieldType.int64.rawValue] else {
            throw JSONError(
                "a list has values of one type, not \(types.joined(separator: " and "))"
            )
        }
        return try coerced(to: .doubleList)
    }

    private static func readObject(from reader: inout JSONReader) throws -> FieldValue {
        var reference = WireReference(recordName: "")
        var asset = WireAsset(fileChecksum: "", size: 0)
        var location = WireLocation(latitude: .nan, longitude: .nan)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordName": reference.recordName = try reader.readName()
            case "zoneID": reference.zoneID = try ZoneID(from: &reader)
            case "action":
                let text = try reader.readName()
                guard let action = WireReference.Action(rawValue: text) else {
                    throw JSONError("unknown reference action \"\(text)\"")
                }
                reference.action = action
            default:
                if try asset.readMember(name, from: &reader) { return }
                try location.readMember(name, from: &reader)
            }
        }
        if !reference.recordName.isEmpty { return .reference(reference) }
        if !asset.fileChecksum.isEmpty { return .asset(asset) }
        if !location.latitude.isNaN, !location.longitude.isNaN { return .location(location) }
        throw JSONError("an object that is not a reference, asset or location")
    }

    /// Returns the value as one of `type`, or fails where that would change it.
    package func coerced(to type: FieldType) throws -> FieldValue {
        switch (self, type) {
        case (.list(let found, _), let type) where found == type: return self
        case (.list(_, let elements), let type):
            guard let element = type.element else { break }
            return .list(type, try elements.map { try $0.coerced(to: element) })
        case (let value, let type) where value.type == type: return value
        case (.int64(let value), .double): return .double(Double(value))
        case (.int64(let value), .timestamp): return .timestamp(value)
        case (.double(let value), .int64), (.double(let value), .timestamp):
            guard let whole = Int64(exactly: value) else { break }
            return type == .int64 ? .int64(whole) : .timestamp(whole)
        case (.string(let text), .int64):
            guard let value = Int64(text) else { break }
            return .int64(value)
        case (.string(let text), .bytes):
            // Many programs break its lines (RFC 2045, 6.8).
            let isBroken = text.utf8.contains {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
            }
            let line = isBroken ? text.filter { !$0.isNewline } : text
            guard let data = Data(base64Encoded: line) else { break }
            return .bytes([UInt8](data))
        default: break
        }
        throw JSONError("Invalid value, expected type \(type.rawValue).")
    }

    /// Writes the bare value, without its tag.
    package func write(to writer: inout JSONWriter, numbersAsStrings: Bool = false) {
        switch self {
        case .string(let text): writer.string(text)
        case .int64(let value):
            numbersAsStrings ? writer.string(String(value)) : writer.number(value)
        case .double(let value): writer.number(value)
        case .timestamp(let value): writer.number(value)
        case .bytes(let bytes): writer.string(Data(bytes).base64EncodedString())
        case .reference(let reference): reference.write(to: &writer)
        case .asset(let asset): asset.write(to: &writer)
        case .location(let location): location.write(to: &writer)
        case .list(_, let elements):
            writer.array(elements) { $1.write(to: &$0, numbersAsStrings: numbersAsStrings) }
        }
    }
}

extension WireReference {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            if let zoneID {
                writer.key("zoneID")
                zoneID.write(to: &writer)
            }
            writer.member("action", action.rawValue)
        }
    }
}

extension WireLocation {
    fileprivate mutating func readMember(_ name: MemberName, from reader: inout JSONReader) throws {
        switch name {
        case "latitude": latitude = try reader.readDouble()
        case "longitude": longitude = try reader.readDouble()
        case "horizontalAccuracy": horizontalAccuracy = try reader.readDouble()
        case "verticalAccuracy": verticalAccuracy = try reader.readDouble()
        case "altitude": altitude = try reader.readDouble()
        case "speed": speed = try reader.readDouble()
        case "course": course = try reader.readDouble()
        case "timestamp": timestamp = try reader.readInt64()
        default: try reader.skipValue()
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        func member(_ name: StaticString, _ value: Double?, _ writer: inout JSONWriter) {
            guard let value else { return }
            writer.key(name)
            writer.number(value)
        }
        writer.object { writer in
            member("latitude", latitude, &writer)
            member("longitude", longitude, &writer)
            member("horizontalAccuracy", horizontalAccuracy, &writer)
            member("verticalAccuracy", verticalAccuracy, &writer)
            member("altitude", altitude, &writer)
            member("speed", speed, &writer)
            member("course", course, &writer)
            if let timestamp { writer.member("timestamp", timestamp) }
        }
    }
}
