// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives up zones whose encrypted fields nobody can read any more (TOK-23).
package enum ResetLostZones {
    /// Gives up some zones with encrypted fields whose key is gone, or is wrapped by another
    /// root key, at most `limit`; returns how many.
    ///
    /// A custom zone goes as it does when its user resets their encrypted data: apps are
    /// notified, and upload what they have again (TOK-7, TOK-23). The default zone, which
    /// cannot go, begins anew.
    package static func run(
        limit: Int, rootKeyID: String, at now: Instant,
        in transaction: some FieldKeyReading & ZoneDeleting
    ) throws -> Int {
        let zones = try transaction.zonesWithoutFieldKey(wrappedBy: rootKeyID, limit: limit)
        for zone in zones {
            guard let database = try transaction.database(id: zone.database) else { continue }
            try transaction.giveUpZone(
                zone, of: database, reason: .encryptedDataReset, now: now)
        }
        return zones.count
    }
}

/// What deleting a zone in nobody's name needs of the store.
package typealias ZoneDeleting = ZoneWriting & SubscriptionWriting & OutboxWriting & UserReading
    & ShareReading

extension ZoneWriting where Self: SubscriptionWriting & OutboxWriting & UserReading & ShareReading {
    /// Deletes a zone in nobody's name with all that is in it; the default zone, which cannot go,
    /// begins anew.
    func giveUpZone(
        _ zone: StoredZone, of database: StoredDatabase, reason: ZoneDeletionReason, now: Instant
    ) throws {
        let position = try advance(database.id, by: 1, at: now)
        try deleteZone(zone, of: database, at: position, reason: reason, now: now)
        guard zone.name == ZoneID.defaultName else { return }
        let again = try advance(database.id, by: 1, at: now)
        _ = try createZones([(zone.name, again)], in: database.id)
    }

    /// Deletes a zone in nobody's name, so that all devices are notified.
    package func deleteZone(
        _ zone: StoredZone, of database: StoredDatabase, at position: Position,
        reason: ZoneDeletionReason, now: Instant
    ) throws {
        let shared = try endOfSharing(zone, at: position)
        try deleteZones([(zone.key, position)], reason: reason, at: now)
        guard zone.name != ZoneID.defaultName,
            !database.subscriptionKinds.isEmpty || shared != nil
        else { return }
        let owner = try database.key.owner.flatMap { try users([$0])[$0] }
        try appendOutbox([
            OutboxEntry(
                database: database.id, zoneName: zone.name,
                zoneOwner: DatabaseAccess(key: database.key, owner: owner).ownerName,
                event: .zoneDeleted(
                    reason,
                    subscriptions: try removeSubscriptions(onZone: zone.name, in: database.id)
                ),
                sharing: shared,
                originUser: nil, originClient: nil, committedAt: now
            )
        ])
    }
}
