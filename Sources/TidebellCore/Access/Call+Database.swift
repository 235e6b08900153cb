// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension Call {
    /// Returns the user, or fails as CloudKit does for who is not signed in
    /// (ACCT-3).
    package func requireUser() throws -> StoredUser {
        guard let user else { throw WireError.authenticationRequired }
        return user
    }

    /// Returns the key of the database of the path; private and shared ones are
    /// the caller's own.
    func databaseKey() throws -> DatabaseKey {
        let owner = scope == .public ? nil : try requireUser().id
        return DatabaseKey(container: container, scope: scope, owner: owner)
    }

    /// The owner of the database's zones as answers and payloads name it.
    package var zoneOwner: String {
        scope == .public ? ZoneID.publicOwner : user?.recordName ?? ZoneID.currentUser
    }

    /// Returns the zone ID as answers carry it: with its owner's real name.
    func answered(_ zoneName: String) -> ZoneID {
        ZoneID(zoneName: zoneName, ownerRecordName: zoneOwner)
    }

    /// Fails unless the zone ID names a zone of this database's owner.
    func checkOwner(of zoneID: ZoneID) throws {
        guard isOwner(of: zoneID) else { throw WireError.zoneNotFound(zoneID) }
    }

    /// Whether the zone ID names a zone of this database's owner, however it spells that.
    func isOwner(of zoneID: ZoneID) -> Bool {
        guard let owner = zoneID.ownerRecordName else { return true }
        return owner == ZoneID.currentUser || owner == zoneOwner || scope == .public
    }

    /// Returns the database and the living zone, or fails with `ZONE_NOT_FOUND`.
    ///
    /// The default zone exists without having been written to (ZONE-1): it gives
    /// nil before its first record.
    func zone(
        _ zoneID: ZoneID, in reader: some ZoneReading
    ) throws -> (database: StoredDatabase, zone: StoredZone)? {
        try checkOwner(of: zoneID)
        let database = try reader.database(try databaseKey())
        let zone = try database.flatMap {
            try reader.zones([zoneID.zoneName], in: $0.id).first
        }
        if let database, let zone, zone.deletion == nil { return (database, zone) }
        guard zoneID.isDefault, scope != .shared else {
            throw WireError.zoneNotFound(zoneID, deletion: zone?.deletion)
        }
        return nil
    }
}
