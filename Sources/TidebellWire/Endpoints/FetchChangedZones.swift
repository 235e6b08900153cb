// SPDX-License-Identifier: Apache-2.0

/// `zones/changes` (web-services 5.8): the zones that changed, deprecated in
/// favour of `changes/database`, whose tokens it shares.
package enum FetchChangedZones: WireEndpoint {
    package static let route = WireRoute(.database("zones/changes"), for: .reader, .reads)

    /// The request.
    package struct Request: WireBody, Hashable {
        package var metaSyncToken: String?
        package var resultsLimit: Int?

        /// Creates a request.
        package init(metaSyncToken: String? = nil, resultsLimit: Int? = nil) {
            self.metaSyncToken = metaSyncToken
            self.resultsLimit = resultsLimit
        }
    }

    /// The answer: the zones that changed or went, oldest change first.
    package struct Response: WireBody, Hashable {
        package var zones: [ZoneResult]
        package var metaSyncToken: String
        package var moreComing: Bool

        /// Creates an answer.
        package init(zones: [ZoneResult], metaSyncToken: String, moreComing: Bool) {
            self.zones = zones
            self.metaSyncToken = metaSyncToken
            self.moreComing = moreComing
        }
    }
}

extension FetchChangedZones.Request {
    /// Reads the request; a `syncToken` means nothing here, as with CloudKit.
    package init(from reader: inout JSONReader) throws {
        self.init()
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "metaSyncToken": metaSyncToken = try reader.readIssued()
            case "resultsLimit": resultsLimit = try reader.readInt()
            default: try reader.skipValue()
            }
        }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("metaSyncToken", metaSyncToken)
            if let resultsLimit { writer.member("resultsLimit", resultsLimit) }
        }
    }
}

extension FetchChangedZones.Response {
    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { $1.write(to: &$0) }
            writer.member("metaSyncToken", metaSyncToken)
            writer.member("moreComing", moreComing)
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(zones: [], metaSyncToken: "", moreComing: false)
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "zones": zones = try reader.readList { try ZoneResult(from: &$0) }
            case "metaSyncToken": metaSyncToken = try reader.readString()
            case "moreComing": moreComing = try reader.readBool()
            default: try reader.skipValue()
            }
        }
    }
}
