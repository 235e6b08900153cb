// SPDX-License-Identifier: Apache-2.0

/// `records/query` (web-services 5.1).
package enum QueryRecords: WireEndpoint {
    package static let route = WireRoute(.database("records/query"), for: .reader, .reads)

    /// The request.
    package struct Request: WireBody, Hashable {
        package var query: WireQuery
        /// The zone to search; nil is the default zone, or all zones if
        /// ``zoneWide`` is set to that.
        package var zoneID: ZoneID?
        /// Whether all zones are searched; makes no difference beside a zone.
        package var zoneWide: Bool
        /// The most records wanted; nil and 0 leave it to the server (QUERY-16).
        package var resultsLimit: Int?
        /// Where the page before ended; the rest of the request is resent
        /// unchanged beside it.
        package var continuationMarker: String?
        /// The fields wanted; nil means all, empty means none.
        package var desiredKeys: [String]?
        /// Whether INT64 values are written as text.
        package var numbersAsStrings: Bool

        /// Creates a request.
        package init(
            query: WireQuery,
            zoneID: ZoneID? = nil,
            zoneWide: Bool = false,
            resultsLimit: Int? = nil,
            continuationMarker: String? = nil,
            desiredKeys: [String]? = nil,
            numbersAsStrings: Bool = false
        ) {
            self.query = query
            self.zoneID = zoneID
            self.zoneWide = zoneWide
            self.resultsLimit = resultsLimit
            self.continuationMarker = continuationMarker
            self.desiredKeys = desiredKeys
            self.numbersAsStrings = numbersAsStrings
        }
    }

    /// The answer: a page of records in the order of the query.
    package struct Response: WireBody, Hashable {
        package var records: [RecordResult]
        /// Where the next page begins; nil after the last one.
        package var continuationMarker: String?
        /// The zone's newest sync token; only for clients that ask for it
        /// (web-services 1.3).
        package var syncToken: String?

        /// Creates an answer.
        package init(
            records: [RecordResult], continuationMarker: String? = nil, syncToken: String? = nil
        ) {
            self.records = records
            self.continuationMarker = continuationMarker
            self.syncToken = syncToken
        }
    }
}

extension QueryRecords.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        var query: WireQuery?
        self.init(query: WireQuery(recordType: ""))
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "query": query = try WireQuery(from: &reader)
            case "zoneID": zoneID = try ZoneID(from: &reader)
            case "zoneWide": zoneWide = try reader.readBool()
            case "resultsLimit": resultsLimit = try reader.readInt()
            case "continuationMarker": continuationMarker = try reader.readIssued()
            case "desiredKeys": desiredKeys = try reader.readDesiredNames()
            case "numbersAsStrings": numbersAsStrings = try reader.readBool()
            default: try reader.skipValue()
            }
        }
        guard let query else { throw JSONError("missing required field 'query'") }
        self.query = query
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("query")
            query.write(to: &writer)
            if let zoneID {
                writer.key("zoneID")
                zoneID.write(to: &writer)
            }
            if zoneWide { writer.member("zoneWide", true) }
            if let resultsLimit { writer.member("resultsLimit", resultsLimit) }
            writer.member("continuationMarker", continuationMarker)
            writer.member("desiredKeys", desiredKeys)
            if numbersAsStrings { writer.member("numbersAsStrings", true) }
        }
    }
}

extension QueryRecords.Response {
    /// About how many bytes the answer takes; a guess that spares growing.
    package var byteEstimate: Int { records.reduce(512) { $0 + $1.byteEstimate } }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("records")
            writer.array(records) { $1.write(to: &$0) }
            writer.member("continuationMarker", continuationMarker)
            writer.member("syncToken", syncToken)
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(records: [])
        try reader.readObject { reader, name in
            switch name {
            case "records": records = try reader.readList { try RecordResult(from: &$0) }
            case "continuationMarker":
                continuationMarker = try reader.readOptional { try $0.readString() }
            case "syncToken": syncToken = try reader.readOptional { try $0.readString() }
            default: try reader.skipValue()
            }
        }
    }
}
