// SPDX-License-Identifier: Apache-2.0

/// `records/lookup` (web-services 5.3).
package enum LookupRecords: WireEndpoint {
    package static let route = WireRoute(.database("records/lookup"), for: .reader, .reads)

    /// One record to look up.
    package struct Item: Sendable, Hashable {
        package var recordName: String
        package var desiredKeys: [String]?

        /// Creates an item.
        package init(recordName: String, desiredKeys: [String]? = nil) {
            self.recordName = recordName
            self.desiredKeys = desiredKeys
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var zoneID: ZoneID
        package var records: [Item]
        package var desiredKeys: [String]?
        package var numbersAsStrings: Bool

        /// Creates a request.
        package init(
            zoneID: ZoneID,
            records: [Item],
            desiredKeys: [String]? = nil,
            numbersAsStrings: Bool = false
        ) {
            self.zoneID = zoneID
            self.records = records
            self.desiredKeys = desiredKeys
            self.numbersAsStrings = numbersAsStrings
        }
    }

    /// The answer has the shape of `records/modify`'s.
    package typealias Response = ModifyRecords.Response
}

extension LookupRecords.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        var desiredKeys: [String]?
        var numbersAsStrings = false
        let (zoneID, records) = try reader.readZoneItems(
            "records",
            other: { reader, name in
                switch name {
                case "desiredKeys": desiredKeys = try reader.readDesiredNames()
                case "numbersAsStrings": numbersAsStrings = try reader.readBool()
                default: return false
                }
                return true
            }
        ) { try LookupRecords.Item(from: &$0) }
        self.init(
            zoneID: zoneID, records: records, desiredKeys: desiredKeys,
            numbersAsStrings: numbersAsStrings
        )
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zoneID")
            zoneID.write(to: &writer)
            writer.key("records")
            writer.array(records) { writer, item in
                writer.object { writer in
                    writer.member("recordName", item.recordName)
                    writer.member("desiredKeys", item.desiredKeys)
                }
            }
            writer.member("desiredKeys", desiredKeys)
            if numbersAsStrings { writer.member("numbersAsStrings", true) }
        }
    }
}

extension LookupRecords.Item {
    fileprivate init(from reader: inout JSONReader) throws {
        var recordName: String?
        var desiredKeys: [String]?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "recordName": recordName = try reader.readName()
            case "desiredKeys": desiredKeys = try reader.readDesiredNames()
            default: try reader.skipValue()
            }
        }
        guard let recordName else { throw JSONError("missing required field 'recordName'") }
        self.init(recordName: recordName, desiredKeys: desiredKeys)
    }
}
