// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Bench {
    /// Queries the zone Notes by default.
    func query(
        _ query: WireQuery, zone: String? = "Notes", zoneWide: Bool = false, limit: Int? = nil,
        after marker: String? = nil, call: Call? = nil
    ) async throws -> QueryRecords.Response {
        let request = QueryRecords.Request(
            query: query, zoneID: zone.map { ZoneID(zoneName: $0) }, zoneWide: zoneWide,
            resultsLimit: limit, continuationMarker: marker
        )
        let call = call ?? self.call()
        return try await store.read { try QueryRecords.run(request, for: call, in: $0) }
    }

    /// The names of the records found.
    func names(
        _ filters: WireFilter..., by sorts: [WireSort] = [.byName], call: Call? = nil
    ) async throws -> [String] {
        try await query(
            WireQuery(recordType: "Note", filters: filters, sorts: sorts), call: call
        ).names
    }

    /// The error of a query; nil if it succeeds.
    func error(
        of query: WireQuery, zone: String? = "Notes", zoneWide: Bool = false,
        after marker: String? = nil, call: Call? = nil
    ) async throws -> WireError? {
        do {
            _ = try await self.query(
                query, zone: zone, zoneWide: zoneWide, after: marker, call: call
            )
            return nil
        } catch let error as WireError {
            return error
        }
    }
}

extension WireSort {
    static let byName = WireSort(.system(.recordName))
}

extension QueryRecords.Response {
    /// The names of the records, in order.
    var names: [String] { records.map { $0.record?.recordName ?? "?" } }
}
