// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What finding the zones of a request needs of the store.
package typealias ZoneAccessReading = ZoneReading & ShareReading

/// The zones that one request names, read together, and what they are to the caller.
///
/// This is the one type that knows where a zone is and who may do what there.
package struct RequestZones {
    /// The database of the path.
    package let database: DatabaseAccess
    private let stored: StoredDatabase?
    /// The zones as stored, deleted ones included.
    private let zones: [String: StoredZone]
    /// Zones of others that are shared with the caller.
    private let granted: [GrantedZoneID: ZoneAccess]

    /// Reads all zones that will be asked for; what is wrong with one of them is reported then.
    package init(
        _ zoneIDs: [ZoneID], for call: Call, in reader: some ZoneAccessReading
    ) throws {
        let database = try call.database()
        self.database = database
        guard !call.scope.holdsZonesOfOthers else {
            (stored, zones) = (nil, [:])
            let ids = Set(zoneIDs.lazy.compactMap { GrantedZoneID($0) })
            granted = Dictionary(
                ids.isEmpty
                    ? []
                    : try reader.grantedZones(to: call.requireUser().id, among: ids).map(\.access)
            ) { first, _ in first }
            return
        }
        let names = Set(zoneIDs.lazy.filter { database.owns($0) }.map(\.zoneName))
        stored = names.isEmpty ? nil : try reader.database(database.key)
        let found = try stored.map { try reader.zones(names, in: $0.id) } ?? []
        zones = Dictionary(found.map { ($0.name, $0) }) { first, _ in first }
        granted = [:]
    }

    /// Returns what a zone is to the caller; fails with `ZONE_NOT_FOUND` where there is none
    /// for them.
    package func access(to zoneID: ZoneID) throws -> ZoneAccess {
        if database.scope.holdsZonesOfOthers {
            guard let access = GrantedZoneID(zoneID).flatMap({ granted[$0] }) else {
                throw WireError.zoneNotFound(zoneID)
            }
            return access
        }
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

    /// Returns the ID of a zone of the request as answers carry it.
    package func answered(_ zoneID: ZoneID) -> ZoneID {
        database.scope.holdsZonesOfOthers ? zoneID : database.zoneID(zoneID.zoneName)
    }

    /// Returns all living zones of the path's database, the default zone first, the others
    /// by name; those that are shared with the caller by owner and name.
    package static func all(
        for call: Call, in reader: some ZoneAccessReading
    ) throws -> [ZoneAccess] {
        let database = try call.database()
        if call.scope.holdsZonesOfOthers {
            return try reader.grantedZones(to: call.requireUser().id, among: nil).map {
                $0.access.1
            }
        }
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

extension GrantedZoneID {
    /// The zone of another user that a caller may mean; nil for one of their own.
    fileprivate init?(_ zoneID: ZoneID) {
        guard let owner = zoneID.ownerRecordName, owner != ZoneID.currentUser else { return nil }
        self.init(owner: owner, zone: zoneID.zoneName)
    }
}

extension GrantedZone {
    /// What the zone is to whom it is shared with, and by what they know it.
    fileprivate var access: (GrantedZoneID, ZoneAccess) {
        (
            GrantedZoneID(owner: owner.recordName, zone: zone.name),
            ZoneAccess(
                zone.name, in: DatabaseAccess(key: database.key, owner: owner),
                rights: .shared(SharedRights(grants, floor: floor)),
                stored: ZoneAccess.Stored(database: database, zone: zone)
            )
        )
    }
}

extension LocatedShare {
    /// What the zone is to who has the share's URL: to its owner all of it, to anybody else what
    /// this share lets them do, accepted or not; nil where that is nothing (SHARE-10), as for all who
    /// are blocked (SHARE-21).
    func access(for user: StoredUser?, of owner: StoredUser) -> ZoneAccess? {
        let database = DatabaseAccess(key: database.key, owner: owner)
        guard user?.id != owner.id else { return database.access(to: zone, of: self.database) }
        let participant = share.participant(user?.id)
        let permission = participant?.permission ?? share.publicPermission
        guard permission != .none, !share.isBlocked(user?.id) else { return nil }
        let rights = SharedRights(
            to: share, permission, isAdministrator: participant?.role == .administrator,
            in: zone.key)
        return ZoneAccess(
            zone.name, in: database, rights: .shared(rights),
            stored: ZoneAccess.Stored(database: self.database, zone: zone)
        )
    }
}

extension Call {
    /// Returns what a zone is to the caller; fails with `ZONE_NOT_FOUND` where there is none
    /// for them.
    package func access(
        to zoneID: ZoneID, in reader: some ZoneAccessReading
    ) throws -> ZoneAccess {
        try RequestZones([zoneID], for: self, in: reader).access(to: zoneID)
    }
}

extension Store {
    /// Returns the scope of a step that writes to a zone of a request: its own database's, which
    /// a participant's path does not name. Fails with `ZONE_NOT_FOUND` likewise.
    package func scope(of zoneID: ZoneID, for call: Call) async throws -> StoreScope {
        guard call.scope.holdsZonesOfOthers else { return try .database(of: call) }
        return .database(try await read { try call.access(to: zoneID, in: $0).database.key })
    }
}
