// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ModifyZones {
    /// Creates and deletes custom zones of the private database; each operation
    /// succeeds or fails alone (ZONE-11).
    package static func run(
        _ request: Request, for call: Call,
        in transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZonesResponse {
        guard call.scope.createsZones else {
            // ZONE-2: Apple calls this badDatabase.
            throw WireError.badRequest(
                "zones are created and deleted in the private database only, "
                    + "not in the \(call.scope) database",
                ckCode: CKErrorCode.badDatabase
            ).visible(to: call)
        }
        let names = request.operations.map(\.zoneID.zoneName)
        if let twice = names.firstDuplicate {
            throw WireError.badRequest(
                "zone '\(WireError.shortened(twice))' stands twice in the request")
        }
        let access = try call.database()
        let database = try transaction.makeDatabase(access.key)
        let stored = try transaction.zones(Set(names), in: database.id)
        let living = Dictionary(
            stored.filter { $0.deletion == nil }.map {
                ($0.name, access.access(to: $0, of: database))
            }
        ) { first, _ in first }
        let hasNew = request.operations.contains {
            if case .create = $0 { living[$0.zoneID.zoneName] == nil } else { false }
        }
        // Counted once, because there may be many.
        var count = hasNew ? try transaction.livingZoneCount(in: database.id) : 0
        return ZonesResponse(
            zones: try request.operations.map { operation in
                do {
                    let isNew = living[operation.zoneID.zoneName] == nil
                    let result = try run(
                        operation, access, living: living, database, count, call, transaction)
                    switch operation {
                    case .create: count += isNew ? 1 : 0
                    case .delete: count -= 1
                    }
                    return result
                } catch let error as WireError {
                    return .failed(operation.zoneID, error.visible(to: call))
                }
            }
        )
    }

    private static func run(
        _ operation: Operation, _ access: DatabaseAccess, living: [String: ZoneAccess],
        _ database: StoredDatabase, _ count: Int, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZoneResult {
        let zoneID = operation.zoneID
        guard access.owns(zoneID) else { throw WireError.zoneNotFound(zoneID) }
        let zone = living[zoneID.zoneName]
        switch operation {
        case .create:
            // ZONE-5: saving an existing zone is allowed and changes nothing.
            if let zone { return zone.result(for: call) }
            return try create(
                zoneID.zoneName, in: access, database, of: count, call, transaction
            ).result(for: call)
        case .delete:
            guard !zoneID.isDefault else {
                throw WireError.badRequest("the default zone cannot be deleted")
            }
            guard let zone, let key = zone.zone?.key else { throw WireError.zoneNotFound(zoneID) }
            try delete(zone, key, in: database, call, transaction)
            return .deleted(zone.zoneID, nil)
        }
    }

    private static func create(
        _ name: String, in access: DatabaseAccess, _ database: StoredDatabase, of count: Int,
        _ call: Call, _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZoneAccess {
        try Names.checkZoneName(name, limits: call.limits)
        guard count < call.limits.zonesPerDatabase else {
            throw WireError.badRequest(
                "zone '\(WireError.shortened(name))' would be one more than the "
                    + "\(call.limits.zonesPerDatabase) of the database (zonesPerDatabase); "
                    + "delete some first",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.zonesPerDatabase)
        }
        let position = try transaction.advance(database.id, by: 1, at: call.now)
        let created = try transaction.createZones([(name, position)], in: database.id)
        guard let zone = created.first.map({ access.access(to: $0, of: database) }) else {
            preconditionFailure("a store created no zone and reported no error")
        }
        if !database.subscriptionKinds.isEmpty {
            try transaction.appendOutbox([zone.outboxEntry(.zoneCreated, by: call, in: database)])
        }
        return zone
    }

    private static func delete(
        _ zone: ZoneAccess, _ key: ZoneKey, in database: StoredDatabase, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws {
        let position = try transaction.advance(database.id, by: 1, at: call.now)
        try transaction.deleteZones([(key, position)], reason: .deleted, at: call.now)
        guard !database.subscriptionKinds.isEmpty else { return }
        let ended = try transaction.removeSubscriptions(
            onZone: zone.zoneID.zoneName, in: database.id
        )
        try transaction.appendOutbox([
            zone.outboxEntry(
                .zoneDeleted(.deleted, subscriptions: ended), by: call, in: database
            )
        ])
    }
}

extension Sequence where Element: Hashable {
    /// The first element that stands in the sequence a second time.
    var firstDuplicate: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
