// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// `zones/list` (web-services 5.8).
extension ListZones {
    /// Returns all living zones, the default zone first (ZONE-7).
    package static func run(for call: Call, in reader: some ZoneReading) throws -> ZonesResponse {
        let database = try reader.database(try call.databaseKey())
        let zones = try database.map { try reader.zones(nil, in: $0.id) } ?? []
        let custom = try zones.filter { $0.name != ZoneID.defaultName }.map(call.result(for:))
        return ZonesResponse(zones: (call.scope == .shared ? [] : [call.defaultZone]) + custom)
    }
}

extension LookupZones {
    /// Returns the zones in the order asked for; a missing one is an item error.
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading
    ) throws -> ZonesResponse {
        _ = try call.databaseKey()
        return ZonesResponse(
            zones: try request.zones.map { zoneID in
                do {
                    let place = try call.zone(zoneID, in: reader)
                    guard let place, !zoneID.isDefault else { return call.defaultZone }
                    return try call.result(for: place.zone)
                } catch let error as WireError {
                    return .failed(zoneID, error.visible(to: call))
                }
            }
        )
    }
}

extension Call {
    /// The default zone as answers carry it: without capabilities (ZONE-1).
    fileprivate var defaultZone: ZoneResult {
        .zone(WireZone(zoneID: answered(ZoneID.defaultName), isAtomic: false))
    }

    /// A custom zone as answers carry it, with its newest sync token.
    func result(for zone: StoredZone) throws -> ZoneResult {
        let token = try makeToken(
            .zone, of: zone.key, at: zone.position, baseline: zone.position
        )
        return .zone(
            WireZone(zoneID: answered(zone.name), syncToken: token.text, isAtomic: true)
        )
    }
}
