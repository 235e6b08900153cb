// SPDX-License-Identifier: Apache-2.0

/// `query/explain`, for the operator: how a page of a query is found, by which index and looking at
/// what.
package enum ExplainQuery: WireEndpoint {
    package typealias Response = QueryExplanation
    package static let route = WireRoute(.of(.admin, "query/explain"), for: .admin, .reads)

    /// Whose query, and what it asks for.
    package struct Request: Sendable, Hashable {
        /// The kind of database.
        package var database: DatabaseScope
        /// The name of the account that asks; the public database needs none.
        package var user: String?
        /// The body of `records/query`.
        package var request: QueryRecords.Request

        /// Creates a request.
        package init(
            database: DatabaseScope = .private, user: String?, request: QueryRecords.Request
        ) {
            self.database = database
            self.user = user
            self.request = request
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            var query: QueryRecords.Request?
            self.init(user: nil, request: QueryRecords.Request(query: WireQuery(recordType: "")))
            try reader.readObject { reader, name in
                guard try !reader.readNull() else { return }
                switch name {
                case "database":
                    let name = try reader.readString()
                    guard let scope = DatabaseScope(rawValue: name) else {
                        throw JSONError("database must be 'public', 'private' or 'shared'")
                    }
                    database = scope
                case "user": user = try reader.readString()
                case "request": query = try QueryRecords.Request(from: &reader)
                default: try reader.skipValue()
                }
            }
            guard let query else { throw JSONError("missing required field 'request'") }
            request = query
        }
    }
}

/// How a page of a query was found.
package struct QueryExplanation: Sendable, Hashable {
    /// What was done in one zone.
    package struct Zone: Sendable, Hashable {
        package var zone: String
        /// What the index is of whose entries were candidates, such as `values of 'title'`; nil where
        /// all records of the type were.
        package var index: String?
        /// Why that.
        package var reason: String
        /// Entries of the index that were looked at.
        package var entries: Int
        /// Records that were looked at.
        package var records: Int
        /// Records that passed all filters.
        package var found: Int

        /// Creates a zone.
        package init(
            zone: String, index: String?, reason: String, entries: Int, records: Int, found: Int
        ) {
            self.zone = zone
            self.index = index
            self.reason = reason
            self.entries = entries
            self.records = records
            self.found = found
        }
    }

    package var zones: [Zone]
    /// Indexes that would have helped, as ``Zone/index`` names them.
    package var wishes: [String]
    /// Whether another page follows.
    package var moreComing: Bool
    /// Why the query was refused after it had looked at records.
    package var refusal: String?

    /// Creates an explanation.
    package init(zones: [Zone], wishes: [String], moreComing: Bool, refusal: String? = nil) {
        self.zones = zones
        self.wishes = wishes
        self.moreComing = moreComing
        self.refusal = refusal
    }

    /// Writes the explanation.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("zones")
            writer.array(zones) { writer, zone in zone.write(to: &writer) }
            writer.key("wishes")
            writer.array(wishes) { $0.string($1) }
            writer.member("moreComing", moreComing)
            if let refusal { writer.member("refusal", refusal) }
        }
    }
}

extension QueryExplanation.Zone {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zone", zone)
            writer.member("source", index == nil ? "scan" : "index")
            if let index { writer.member("index", index) }
            writer.member("reason", reason)
            writer.member("entries", Int64(entries))
            writer.member("records", Int64(records))
            writer.member("found", Int64(found))
        }
    }
}

extension QueryExplanation {
    /// The explanation as people read it, a few lines for each zone.
    package var text: String {
        var lines = zones.map(\.text)
        if lines.isEmpty { lines.append("No zone was searched: the database is empty.") }
        for wish in wishes {
            lines.append(
                "An index of \(wish) would help; a server that runs makes it when it is asked "
                    + "this.")
        }
        if let refusal { lines.append("Refused: \(refusal)") }
        if moreComing, refusal == nil { lines.append("This was one page; more follow.") }
        return lines.joined(separator: "\n")
    }
}

extension QueryExplanation.Zone {
    fileprivate var text: String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String {
            "\(count) \(count == 1 ? one : many)"
        }
        let looked = counted(records, "record", "records")
        guard let index else {
            return """
                zone \(zone): all records of the type, one by one: \(reason)
                  looked at \(looked), \(found) passed
                """
        }
        return """
            zone \(zone): the index of \(index): \(reason)
              looked at \(counted(entries, "entry", "entries")) and \(looked), \(found) passed
            """
    }
}
