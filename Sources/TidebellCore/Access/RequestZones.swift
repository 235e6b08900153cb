// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The zones that one request names, read together, and what they are to who calls.
///
/// This is the one type that knows where a zone is and who may do what there.
package struct RequestZones {
    /// The database of the path.
    package let database: DatabaseAccess
    private let stored: StoredDatabase?
    /// The zones as stored, deleted ones included.
    private let zones: [String: StoredZone]

    /// Reads all zones that will be asked for; what is wrong with one of them is reported then.
    package init(
        _ zoneIDs: some Sequence<ZoneID>, for call: Call, in reader: some ZoneReading
    ) throws {
        let database = try call.database()
        let names = Set(zoneIDs.lazy.filter { database.owns($0) }.map(\.zoneName))
        self.database = database
        stored = names.isEmpty ? nil : try reader.database(database.key)
        let found = try stored.map { try reader.zones(names, in: $0.id) } ?? []
        zones = Dictionary(found.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Returns what a zone is to who calls; fails with `ZONE_NOT_FOUND` where there is none
    /// for them.
    package func access(to zoneID: ZoneID) throws -> ZoneAccess {
        guard database.owns(zoneID) else { throw WireError.zoneNotFound(zoneID) }
        let zone = zones[zoneID.zoneName]
        if let stored, let zone, zone.deletion == nil {
            return database.access(to: zone, of: stored)
        }
        guard zoneID.isDefault, database.scope.hasDefaultZone else {
            throw WireError.zoneNotFound(zoneID, deletion: zone?.deletion)
        }
        return database.accessToUnusedZone
    }

    /// Returns all living zones of the path's database, the default zone first, the others
    /// by name.
    package static func all(
        for call: Call, in reader: some ZoneReading
    ) throws -> [ZoneAccess] {
        let database = try call.database()
        var zones: [ZoneAccess] = []
        if let stored = try reader.database(database.key) {
            zones = try reader.zones(nil, in: stored.id).map { database.access(to: $0, of: stored) }
        }
        guard database.scope.hasDefaultZone else { return zones }
        let unused = [database.accessToUnusedZone]
        guard let index = zones.firstIndex(where: \.zoneID.isDefault) else { return unused + zones }
        zones.insert(zones.remove(at: index), at: 0)
        return zones
    }
}

extension DatabaseAccess {
    /// What a living zone is to who owns the database, or to everybody.
    func access(to zone: StoredZone, of database: StoredDatabase) -> ZoneAccess {
        ZoneAccess(
            zone.name, in: self, rights: rights,
            stored: ZoneAccess.Stored(database: database, zone: zone)
        )
    }

    /// The same for the default zone before its first record.
    fileprivate var accessToUnusedZone: ZoneAccess {
        ZoneAccess(ZoneID.defaultName, in: self, rights: rights)
    }
}

extension Call {
    /// Returns what a zone is to who calls; fails with `ZONE_NOT_FOUND` where there is none
    /// for them.
    package func access(
        to zoneID: ZoneID, in reader: some ZoneReading
    ) throws -> ZoneAccess {
        try RequestZones(CollectionOfOne(zoneID), for: self, in: reader).access(to: zoneID)
    }
}
