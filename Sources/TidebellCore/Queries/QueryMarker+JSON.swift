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
            case .entry(let place):
                writer.member("zone", place.zone.rawValue)
                writer.member("source", Int64(place.source))
                writer.member("key", Base64URL.text(place.key.rawValue))
                writer.member("position", place.position.rawValue)
                if let scanned = place.scanned { writer.member("scanned", scanned.rawValue) }
            case .rank(let rank):
                writer.member("zone", rank.zone.rawValue)
                writer.member("position", rank.position.rawValue)
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
        var (source, scanned): (Int64?, Int64?)
        var key: [UInt8]?
        var keys: [ComparisonKey?]?
        try reader.readObject { reader, member in
            switch member {
            case "query": query = UInt64(try reader.readString(), radix: 16)
            case "zone": zone = try reader.readInt64()
            case "position": position = try reader.readInt64()
            case "source": source = try reader.readInt64()
            case "scanned": scanned = try reader.readInt64()
            case "key": key = Base64URL.bytes(try reader.readString())
            case "keys":
                keys = try reader.readList { reader in
                    try reader.readOptional { try ComparisonKey(from: &$0) }
                }
            default: try reader.skipValue()
            }
        }
        guard let query, let zone = zone.map(ZoneKey.init(rawValue:)),
            let position = position.map(TidebellCore.Position.init(rawValue:))
        else { throw JSONError("a marker without query, zone or position") }
        if let keys {
            let rank = QueryRank(keys: keys, zone: zone, position: position)
            self.init(query: query, position: .rank(rank))
        } else if let source, let key {
            let place = IndexPlace(
                zone: zone, source: Int(source), key: FieldIndexKey(rawValue: key),
                position: position, scanned: scanned.map(TidebellCore.Position.init(rawValue:)))
            self.init(query: query, position: .entry(place))
        } else {
            let cursor = RecordCursor(zone: zone, position: position)
            self.init(query: query, position: .change(cursor))
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
            case .bytes(let bytes): writer.member("bytes", Base64URL.text(bytes))
            case .place(let latitude, let longitude):
                writer.key("place")
                writer.array([latitude, longitude]) { $0.number($1) }
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
            case "bytes": key = Base64URL.bytes(try reader.readString()).map(ComparisonKey.bytes)
            case "place":
                let place = try reader.readList(limit: 2) { try $0.readDouble() }
                guard place.count == 2 else { throw JSONError("a place of no two numbers") }
                key = .place(latitude: place[0], longitude: place[1])
            default: try reader.skipValue()
            }
        }
        guard let key else { throw JSONError("a key of no kind") }
        self = key
    }
}
