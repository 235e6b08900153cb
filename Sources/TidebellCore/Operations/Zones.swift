// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// `zones/list` (web-services 5.8).
extension ListZones {
    /// Returns all living zones, the default zone first (ZONE-7).
    package static func run(
        for call: Call, in reader: some ZoneAccessReading
    ) throws -> ZonesResponse {
        ZonesResponse(
            zones: try RequestZones.all(for: call, in: reader).map { $0.result(for: call) }
        )
    }
}

extension LookupZones {
    /// Returns the zones in the order asked for; a missing one is an item error.
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneAccessReading
    ) throws -> ZonesResponse {
        let zones = try RequestZones(request.zones, for: call, in: reader)
        return ZonesResponse(
            zones: try request.zones.map { zoneID in
                do {
                    return try zones.access(to: zoneID).result(for: call)
                } catch let error as WireError {
                    return .failed(zoneID, error.visible(to: call))
                }
            }
        )
    }
}

extension ZoneAccess {
    /// The zone as answers carry it: a default zone without capabilities (ZONE-1), a custom
    /// one with its newest sync token.
    func result(for call: Call) -> ZoneResult {
        // Some clients refuse members that they do not know.
        let namesShare = call.usesExtensions && zone?.sharing == .zoneWide
        return .zone(
            WireZone(
                zoneID: zoneID, syncToken: latestToken(for: call)?.text,
                isAtomic: !zoneID.isDefault,
                share: namesShare ? ShareNames.zoneWideShare : nil
            )
        )
    }

    /// The newest sync token of the zone, if it tracks changes; to whoever sees some hierarchies
    /// only, an older one.
    func syncToken(for call: Call) -> String? {
        database.scope.tracksChanges ? latestToken(for: call)?.text : nil
    }

    private func latestToken(for call: Call) -> SyncToken? {
        guard let zone, !zoneID.isDefault else { return nil }
        let end = end(of: zone, afterSeen: .start)
        return call.makeToken(.zone, of: zone.key, in: database.key, at: end, baseline: end)
    }

    /// Returns where the zone's history ends for the caller, to whom nothing behind `seen` is of
    /// interest.
    ///
    /// Whoever sees some hierarchies of the zone only gets no token of its newest position: a
    /// position is a moment too, that of a change which is not for them.
    func end(of zone: StoredZone, afterSeen seen: Position) -> Position {
        guard let sharedRights, sharedRights.hierarchies != nil else { return zone.position }
        return max(seen, sharedRights.tokenFloor)
    }
}
