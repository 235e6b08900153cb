// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension QueryRecords {
    /// Returns a page of the records of a type that pass all filters, in the order
    /// asked for (web-services 5.1); without one, by zone and oldest change first.
    ///
    /// What was saved before is found (QUERY-18). A page may be short or empty
    /// though more follows: only a missing marker says that nothing does
    /// (QUERY-16).
    ///
    /// - Parameter tellsSyncToken: Whether the answer carries the newest sync token
    ///   of the one zone that was searched, if it tracks changes.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneReading & RecordReading & SchemaReading,
        tellsSyncToken: Bool = false
    ) throws -> Response {
        // Access, zones
        let zones = try request.zones(for: call, in: reader)
        // Schema, rules
        let type = try request.query.type(for: call, in: reader)
        try FilterRules.check(request.query.filters, of: "query", on: type)
        try SortRules.check(request.query.sorts, on: type)
        // Search
        let hash = try request.hash(for: call)
        let search = QuerySearch(
            query: request.query, zones: zones, limits: call.limits,
            limit: call.limits.page(request.resultsLimit, atMost: call.limits.recordsPerPage)
        )
        let page = try search.page(after: try request.start(of: hash), in: reader)
        // Answer
        let selection = FieldSelection(
            desiredKeys: request.desiredKeys, numbersAsStrings: request.numbersAsStrings, for: call
        )
        let zonesByKey = Dictionary(
            uniqueKeysWithValues: zones.map { ($0.key, (zone: $0, id: call.answered($0.name))) }
        )
        return Response(
            records: try page.records.map { found in
                let place = zonesByKey[found.zone]
                return try found.record.result(
                    to: call, from: place?.zone,
                    in: place?.id ?? ZoneID(zoneName: ZoneID.defaultName),
                    selecting: selection
                )
            },
            continuationMarker: page.next.map { QueryMarker(query: hash, place: $0).text },
            syncToken: tellsSyncToken ? try call.syncToken(of: zones) : nil
        )
    }
}

extension QueryRecords.Request {
    /// The zones to search, in the order of their keys; none before the default
    /// zone has its first record.
    fileprivate func zones(for call: Call, in reader: some ZoneReading) throws -> [StoredZone] {
        if let zoneID {
            return try call.zone(zoneID, in: reader).map { [$0.zone] } ?? []
        }
        guard call.scope != .shared else {
            // QUERY-12
            throw WireError.badRequest(
                "a query of the shared database needs a zoneID; it cannot search all zones"
            )
        }
        guard zoneWide else {
            let zoneID = ZoneID(zoneName: ZoneID.defaultName)
            return try call.zone(zoneID, in: reader).map { [$0.zone] } ?? []
        }
        // QUERY-13
        guard let database = try reader.database(try call.databaseKey()) else { return [] }
        return try reader.zones(nil, in: database.id).sorted { $0.key < $1.key }
    }
}

extension WireQuery {
    /// What is known of the queried type; fails for one that no record ever had.
    fileprivate func type(for call: Call, in reader: some SchemaReading) throws -> QueriedType {
        guard !recordType.isEmpty else { throw WireError.badRequest("a query needs a record type") }
        guard recordType != Names.userRecordType else {
            // QUERY-11
            throw WireError.badRequest("records of the system type 'Users' cannot be queried")
        }
        let known = try reader.fields(of: [recordType], in: call.container)[recordType]
        guard let fields = known else {
            // NB: the words are CloudKit's (QUERY-20).
            throw WireError(
                .notFound, "Did not find record type: \(WireError.shortened(recordType))"
            )
        }
        return QueriedType(
            name: recordType, fields: fields, mayGrow: false, limits: call.limits)
    }
}

extension Call {
    /// The newest sync token of the only zone, if it tracks changes.
    func syncToken(of zones: [StoredZone]) throws -> String? {
        guard let zone = zones.first, zones.count == 1, scope != .public,
            zone.name != ZoneID.defaultName, case .zone(let answered) = try result(for: zone)
        else { return nil }
        return answered.syncToken
    }
}
