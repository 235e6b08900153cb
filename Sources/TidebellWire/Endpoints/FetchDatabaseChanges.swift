// SPDX-License-Identifier: Apache-2.0

/// `changes/database` (web-services 5.5).
package enum FetchDatabaseChanges: WireEndpoint {
    package static let route = WireRoute(.database("changes/database"), for: .reader, .reads)

    /// The request.
    package struct Request: WireBody, Hashable {
        package var syncToken: String?
        package var resultsLimit: Int?

        /// Creates a request.
        package init(syncToken: String? = nil, resultsLimit: Int? = nil) {
            self.syncToken = syncToken
            self.resultsLimit = resultsLimit
        }
    }

    /// The answer: the zones that changed or went, oldest change first.
    package struct Response: WireBody, Hashable {
        package var zones: [ZoneResult]
        package var syncToken: String
        package var moreComing: Bool

        /// Creates an answer.
        package init(zones: [ZoneResult], syncToken: String, moreComing: Bool) {
            self.zones = zones
            self.syncToken = syncToken
            self.moreComing = moreComing
        }
    }
}

extension FetchDatabaseChanges.Request {
    /// Reads the request.
    package init(from reader: inout JSONReader) throws {
        self.init()
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "syncToken": syncToken = try reader.readIssued()
            case "resultsLimit": resultsLimit = try reader.readInt()
            default: try reader.skipValue()
            }
        }
    }

    /// Writes the request.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("syncToken", syncToken)
            if let resultsLimit { writer.member("resultsLimit", resultsLimit) }
        }
    }
}

extension FetchDatabaseChanges.Response {
    /// Writes the answer; strict clients allow no `atomic` here.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { $1.write(to: &$0, sendsAtomic: false) }
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(zones: [], syncToken: "", moreComing: false)
        try reader.readObject { reader, name in
            switch name {
            case "zones": zones = try reader.readList { try ZoneResult(from: &$0) }
            case "syncToken": syncToken = try reader.readString()
            case "moreComing": moreComing = try reader.readOptional { try $0.readBool() } ?? false
            default: try reader.skipValue()
            }
        }
    }
}
