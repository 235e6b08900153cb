// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension QueryRecords {
    /// Returns a page of the records of a type that pass all filters, in the order
    /// asked for (web-services 5.1); without one, by zone, and in that of an index or oldest
    /// change first.
    ///
    /// What was saved before is found (QUERY-18). A page may be short or empty
    /// though more follows: only a missing marker means that nothing does
    /// (QUERY-16).
    ///
    /// - Parameter returnsSyncToken: Whether the answer carries the newest sync token
    ///   of the one zone that was searched, if it tracks changes.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneAccessReading & RecordReading & SharedRecordReading & SchemaReading
            & UserReading & FieldIndexReading,
        returnsSyncToken: Bool = false
    ) throws -> Response {
        // Access, zones
        let named = try request.zones(for: call, in: reader)
        let zones = named.filter { $0.zone != nil }
        // Schema, rules
        let database = try named.first?.database.key ?? call.database().key
        let type = try request.query.type(inDatabaseOf: database.owner, for: call, in: reader)
        try FilterRules.check(request.query.filters, of: "query", on: type, call.limits)
        try SortRules.check(request.query.sorts, on: type, call.limits)
        try type.require(IndexNeed.all(of: request.query.filters, request.query.sorts))
        try call.hold(
            AppleRules.breach(
                by: request.query, of: type, indexed: call.limits.typesQueryableByName),
            of: "a query of '\(WireError.shortened(request.query.recordType))'"
        )
        let creator = try request.query.onlyCreator(for: call, type.grants, in: reader)
        call.queryUses.note(QueryUse(request.query), in: call.container)
        // Search
        let hash = request.hash(in: database, for: call)
        let log = QueryLog()
        defer { call.noteQuery(log.report) }
        let search = QuerySearch(
            query: request.query, searched: type.stored?.searchedFields, onlyOf: creator,
            zones: zones.compactMap(\.zone),
            hierarchies: zones.first?.hierarchies, roots: zones.first?.sharedRights?.roots ?? [],
            limits: call.limits,
            limit: call.limits.page(request.resultsLimit, atMost: call.limits.recordsPerPage),
            now: call.now, log: log
        )
        let page = try search.page(after: try request.start(of: hash, for: call), in: reader)
        // Answer
        let selection = FieldSelection(
            desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings, for: call
        )
        let places = Dictionary(grouping: page.records.indices) { page.records[$0].zone }
        var results = [RecordResult?](repeating: nil, count: page.records.count)
        // Zone by zone: looked up for each record, what is known of a zone would be copied for each.
        for access in zones {
            let indices = access.zone.flatMap { places[$0.key] } ?? []
            let shares = try ShareAnswers(
                of: indices.lazy.map { page.records[$0].record.name }, for: call, in: access, reader
            )
            for index in indices {
                results[index] = try page.records[index].record.result(
                    to: call, in: access, selecting: selection, shares, reader)
            }
        }
        return Response(
            records: results.compactMap(\.self),
            continuationMarker: page.next.map {
                QueryMarker(query: hash, position: $0).text(sealedBy: call.markerSeal)
            },
            syncToken: returnsSyncToken && zones.count == 1 ? zones[0].syncToken(for: call) : nil
        )
    }
}

extension QueryRecords {
    /// Announces what is read before the search begins (``ReadingAhead/readAhead(_:)``).
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let zones = try request.zones(for: call, in: reader)
        let database = try zones.first?.database.key ?? call.database().key
        _ = try reader.schema(
            of: [request.query.recordType], inDatabaseOf: database.owner, for: call)
        for zone in zones.compactMap(\.zone) where zone.isIndexed {
            _ = try reader.fieldIndexes(in: zone.key, of: request.query.recordType)
        }
    }
}

extension QueryRecords.Request {
    /// The zones to search, in the order of their keys.
    fileprivate func zones(
        for call: Call, in reader: some ZoneAccessReading
    ) throws -> [ZoneAccess] {
        guard zoneID != nil || call.scope.isQueriedAcrossZones else {
            // QUERY-12
            throw WireError.badRequest(
                "a query of the shared database needs a zoneID; it cannot search all zones"
            )
        }
        // QUERY-13
        let zones =
            zoneID == nil && zoneWide
            ? try RequestZones.all(for: call, in: reader)
            : [try call.access(to: zoneID ?? ZoneID(zoneName: ZoneID.defaultName), in: reader)]
        guard zones.count > 1 else { return zones }
        return zones.filter { $0.zone != nil }.sorted { left, right in
            guard let left = left.zone, let right = right.zone else { return false }
            return left.key < right.key
        }
    }
}

extension WireQuery {
    /// Who created the records that the caller may find, nil for anybody: in the public database, of
    /// a type that only creators read, the caller; fails where they may read none (ACCT-7).
    fileprivate func onlyCreator(
        for call: Call, _ grants: RecordGrants, in reader: some UserReading
    ) throws -> String? {
        guard call.scope.isOpenToEverybody, grants != .standard else { return nil }
        let rights = try PublicRights(of: call.user, among: [grants], in: reader)
        guard !rights.rights(by: grants).contains(.read) else { return nil }
        guard let user = call.user, grants[RecordGrants.creator].contains(.read) else {
            throw WireError.notReadable(recordType, grants)
        }
        return user.recordName
    }

    /// What is known of the queried type; fails for one that no record ever had.
    fileprivate func type(
        inDatabaseOf owner: UserID?, for call: Call, in reader: some SchemaReading
    ) throws -> RecordType {
        guard !recordType.isEmpty else { throw WireError.badRequest("a query needs a record type") }
        guard recordType != Names.userRecordType else {
            // QUERY-11
            throw WireError.badRequest("records of the system type 'Users' cannot be queried")
        }
        return try reader.queriedType(recordType, inDatabaseOf: owner, for: call)
    }
}
