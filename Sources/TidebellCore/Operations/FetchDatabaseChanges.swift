// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchDatabaseChanges {
    /// Returns the custom zones that changed or went since the token, each once,
    /// oldest change first (TOK-7, TOK-17).
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading & SharedZoneReading
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
                access.scope.holdsZonesOfOthers
                    ? try reader.sharedZoneChanges(in: $0.id, after: next.position, limit: limit)
                        .map(ChangedZone.init)
                    : try reader.zoneChanges(in: $0.id, after: next.position, limit: limit)
                        .map { ChangedZone($0, in: access) }
            } ?? []
        let moreComing = zones.count == limit
        next.position = moreComing ? zones.last?.position ?? head : head
        invariant(zones.count <= limit, "a page has no more zones than it may")
        return Response(
            zones: zones.compactMap { $0.result(since: next.baseline, to: call) },
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

/// A zone in the history of a database, whose it ever is.
private struct ChangedZone {
    var zoneID: ZoneID
    var position: Position
    var deletion: ZoneDeletionReason?

    init(_ zone: StoredZone, in database: DatabaseAccess) {
        zoneID = database.zoneID(zone.name)
        position = zone.position
        deletion = zone.deletion
    }

    /// A zone that is shared with the caller (SHARE-17).
    init(_ zone: StoredSharedZone) {
        zoneID = ZoneID(zoneName: zone.name, ownerRecordName: zone.owner)
        position = zone.position
        deletion = zone.deletion
    }

    /// The item for the zone; nil for what is no news: the default zone (SUB-7), and zones
    /// gone before a first fetch (TOK-6).
    func result(since baseline: Position, to call: Call) -> ZoneResult? {
        guard !zoneID.isDefault else { return nil }
        guard let reason = deletion else {
            return .zone(WireZone(zoneID: zoneID, isAtomic: true))
        }
        guard position > baseline else { return nil }
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
