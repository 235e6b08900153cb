// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension QueryMarker {
    /// Writes the marker; the hash is text, since it may not fit an `Int64`.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("query", String(query, radix: 16))
            switch position {
            case .change(let cursor):
                writer.member("zone", cursor.zone.rawValue)
                writer.member("position", cursor.position.rawValue)
            case .rank(let rank):
                writer.member("zone", rank.zone.rawValue)
                writer.member("name", rank.name)
                writer.key("keys")
                writer.array(rank.keys) { writer, key in
                    guard let key else { return writer.null() }
                    key.write(to: &writer)
                }
            }
        }
    }

    /// Reads a marker.
    init(from reader: inout JSONReader) throws {
        var query: UInt64?
        var (zone, position): (Int64?, Int64?)
        var name: String?
        var keys: [ComparisonKey?] = []
        try reader.readObject { reader, member in
            switch member {
            case "query": query = UInt64(try reader.readString(), radix: 16)
            case "zone": zone = try reader.readInt64()
            case "position": position = try reader.readInt64()
            case "name": name = try reader.readString()
            case "keys":
                keys = try reader.readList { reader in
                    try reader.readOptional { try ComparisonKey(from: &$0) }
                }
            default: try reader.skipValue()
            }
        }
        guard let query, let zone = zone.map(ZoneKey.init(rawValue:)) else {
            throw JSONError("a marker without query or zone")
        }
        if let name {
            self.init(query: query, position: .rank(QueryRank(keys: keys, zone: zone, name: name)))
        } else if let position {
            let cursor = RecordCursor(zone: zone, position: .init(rawValue: position))
            self.init(query: query, position: .change(cursor))
        } else {
            throw JSONError("a marker without a position")
        }
    }
}

extension ComparisonKey {
    /// Writes a key that has an order.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .text(let text): writer.member("text", text.string)
            case .name(let name): writer.member("name", name.string)
            case .number(.whole(let number)): writer.member("number", number)
            case .number(.fraction(let number)):
                writer.key("number")
                writer.number(number)
            // The rules let nobody sort by these.
            case .bytes, .place: break
            }
        }
    }

    /// Reads a key.
    fileprivate init(from reader: inout JSONReader) throws {
        var key: ComparisonKey?
        try reader.readObject { reader, member in
            switch member {
            case "text": key = .text(CanonicalText(try reader.readString()))
            case "name": key = .name(CanonicalText(try reader.readString()))
            case "number":
                switch try reader.readNumber() {
                case .integer(let number): key = .number(.whole(number))
                case .double(let number): key = .number(ExactNumber(number))
                }
            default: try reader.skipValue()
            }
        }
        guard let key else { throw JSONError("a key of no kind") }
        self = key
    }
}
