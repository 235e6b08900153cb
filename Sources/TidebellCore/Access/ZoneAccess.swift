// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A zone of a request as the caller reaches it: where it is, what they know it by, what
/// they may do there.
///
/// Every zone ID of a request is resolved to one, once (``RequestZones``). What works on the
/// zone asks this value, and neither the path of the request nor who owns what.
package struct ZoneAccess: Sendable, Hashable {
    /// A zone as stored, and its database.
    package struct Stored: Sendable, Hashable {
        package var database: StoredDatabase
        package var zone: StoredZone
    }

    /// The zone's own database, which need not be that of the path.
    package let database: DatabaseAccess
    /// The zone's ID as answers carry it.
    package let zoneID: ZoneID
    /// What the caller may do there.
    package let rights: ZoneRights
    /// Nil for a default zone before its first record, which is there all the same
    /// (ZONE-1).
    package var stored: Stored?

    init(
        _ zoneName: String, in database: DatabaseAccess, rights: ZoneRights, stored: Stored? = nil
    ) {
        self.database = database
        self.rights = rights
        self.stored = stored
        zoneID = database.zoneID(zoneName)
    }

    /// The zone as stored.
    package var zone: StoredZone? { stored?.zone }

    /// Returns the zone as stored, with its database: a default zone from its first record
    /// on.
    func make(in transaction: some ZoneWriting) throws -> Stored {
        if let stored { return stored }
        let database = try transaction.makeDatabase(database.key)
        let zone = try transaction.zones([zoneID.zoneName], in: database.id).first
        guard let zone, zone.deletion == nil else {
            throw WireError.zoneNotFound(zoneID, deletion: zone?.deletion)
        }
        return Stored(database: database, zone: zone)
    }

    /// The outbox entry for something a call did to the zone, which is stored.
    func outboxEntry(
        _ event: OutboxEntry.Event, sharing: SharedChange? = nil, by call: Call,
        in database: StoredDatabase
    ) -> OutboxEntry {
        OutboxEntry(
            database: database.id, zoneName: zoneID.zoneName, zoneOwner: self.database.ownerName,
            event: event, sharing: sharing, originUser: call.user?.id, originClient: call.clientID,
            committedAt: call.now
        )
    }
}
