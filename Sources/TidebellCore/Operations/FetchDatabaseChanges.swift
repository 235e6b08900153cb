// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchDatabaseChanges {
    /// Returns the custom zones that changed or went since the token, each once,
    /// oldest change first (TOK-7, TOK-17).
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading
    ) throws -> Response {
        try call.requireChangeTracking()
        let access = try call.database()
        let token = try call.syncToken(request.syncToken, family: .database, of: access.key)
        let database = try reader.database(access.key)
        let head = database?.head ?? .start
        var next =
            token ?? call.makeToken(.database, in: access.key, at: .start, baseline: head)
        guard next.position <= head else {
            throw WireError.changeTokenExpired("the syncToken is ahead of the database")
        }
        let floor = database?.floor ?? .start
        // A first fetch that is still under way needs no trace it could miss.
        guard next.position >= floor || next.baseline >= floor else {
            throw WireError.changeTokenExpired("the syncToken is older than the kept zone traces")
        }
        let limit = call.limits.page(request.resultsLimit, atMost: call.limits.zonesPerPage)
        let zones =
            try database.map {
                try reader.zoneChanges(in: $0.id, after: next.position, limit: limit)
            } ?? []
        let moreComing = zones.count == limit
        next.position = moreComing ? zones.last?.position ?? head : head
        return Response(
            zones: zones.compactMap { zone in
                access.result(for: zone, since: next.baseline, to: call)
            },
            syncToken: next.text, moreComing: moreComing
        )
    }
}

extension Call {
    /// Fails in the public database, which has no change tracking (TOK-4).
    func requireChangeTracking() throws {
        guard scope.tracksChanges else {
            throw WireError.badRequest("the public database does not track changes")
        }
    }
}

extension DatabaseAccess {
    /// The item for a zone of the database's history; nil for what is no news:
    /// the default zone (SUB-7), and zones gone before a first fetch (TOK-6).
    fileprivate func result(
        for zone: StoredZone, since baseline: Position, to call: Call
    ) -> ZoneResult? {
        guard zone.name != ZoneID.defaultName else { return nil }
        let zoneID = zoneID(zone.name)
        guard let reason = zone.deletion else {
            return .zone(WireZone(zoneID: zoneID, isAtomic: true))
        }
        guard zone.position > baseline else { return nil }
        return .deleted(zoneID, call.usesExtensions ? reason : nil)
    }
}

extension Limits {
    /// The size of a page for a caller that asked for `wanted`; nil and 0 leave
    /// it to the server (TOK-12).
    func page(_ wanted: Int?, atMost most: Int) -> Int {
        guard let wanted, wanted > 0 else { return most }
        return min(wanted, most)
    }
}
