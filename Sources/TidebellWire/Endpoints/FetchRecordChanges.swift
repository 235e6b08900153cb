// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `records/changes` (web-services 5.4): one zone's changes, deprecated in favour
/// of `changes/zone`, whose tokens it shares (TOK-2).
package enum FetchRecordChanges: WireEndpoint {
    package static let route = WireRoute(.database("records/changes"), for: .reader, .reads)

    /// The request: what `changes/zone` has for each zone.
    package struct Request: WireBody, Hashable {
        package var zoneID: ZoneID
        package var syncToken: String?
        package var options: FetchZoneChanges.Options

        /// Creates a request.
        package init(
            zoneID: ZoneID, syncToken: String? = nil,
            options: FetchZoneChanges.Options = FetchZoneChanges.Options()
        ) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.options = options
        }
    }

    /// The answer: a page of changes, oldest first unless the request sets
    /// `reverse`.
    package struct Response: WireBody, Hashable {
        package var records: [RecordResult]
        package var syncToken: String
        package var moreComing: Bool
        /// Whether the newest change comes first.
        package var reverse: Bool
        /// The token of the newest modify request that gave one (TOK-28); an
        /// extension.
        package var clientChangeToken: [UInt8]?

        /// Creates an answer.
        package init(
            records: [RecordResult], syncToken: String, moreComing: Bool, reverse: Bool = false,
            clientChangeToken: [UInt8]? = nil
        ) {
            self.records = records
            self.syncToken = syncToken
            self.moreComing = moreComing
            self.reverse = reverse
            self.clientChangeToken = clientChangeToken
        }
    }
}

extension FetchRecordChanges.Request {
    /// Reads the request; without a zone it is about the default zone, which has
    /// no changes to return.
    package init(from reader: inout JSONReader) throws {
        self.init(zoneID: ZoneID(zoneName: ZoneID.defaultName))
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "zoneID": zoneID = try ZoneID(from: &reader)
            case "syncToken": syncToken = try reader.readIssued()
            default: try options.readMember(name, from: &reader)
            }
        }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zoneID")
            zoneID.write(to: &writer)
            writer.member("syncToken", syncToken)
            options.write(to: &writer)
        }
    }
}

extension FetchRecordChanges.Response {
    /// About how many bytes the answer takes; a guess that spares growing.
    package var byteEstimate: Int { records.reduce(512) { $0 + $1.byteEstimate } }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("records")
            writer.array(records) { $1.write(to: &$0) }
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            if reverse { writer.member("reverse", true) }
            writer.member(
                "clientChangeToken", clientChangeToken.map { Data($0).base64EncodedString() }
            )
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(records: [], syncToken: "", moreComing: false)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "records": records = try reader.readList { try RecordResult(from: &$0) }
            case "syncToken": syncToken = try reader.readString()
            case "moreComing": moreComing = try reader.readBool()
            case "reverse": reverse = try reader.readBool()
            case "clientChangeToken": clientChangeToken = try reader.readBytes()
            default: try reader.skipValue()
            }
        }
    }
}
