// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension ModifyZones {
    /// Creates and deletes custom zones of the private database; each operation
    /// succeeds or fails alone (ZONE-11).
    package static func run(
        _ request: Request, for call: Call,
        in transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZonesResponse {
        guard call.scope == .private else {
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
        let database = try transaction.makeDatabase(try call.databaseKey())
        let stored = try transaction.zones(Set(names), in: database.id)
        let living = Dictionary(
            uniqueKeysWithValues: stored.filter { $0.deletion == nil }.map { ($0.name, $0) }
        )
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
                        operation, living: living, database, count, call, transaction)
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
        _ operation: Operation, living: [String: StoredZone], _ database: StoredDatabase,
        _ count: Int, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZoneResult {
        let zoneID = operation.zoneID
        try call.checkOwner(of: zoneID)
        let zone = living[zoneID.zoneName]
        switch operation {
        case .create:
            // ZONE-5: saving an existing zone is allowed and changes nothing.
            if let zone, zoneID.isDefault {
                return .zone(WireZone(zoneID: call.answered(zone.name), isAtomic: false))
            }
            if let zone { return try call.result(for: zone) }
            return try create(zoneID.zoneName, in: database, of: count, call, transaction)
        case .delete:
            guard !zoneID.isDefault else {
                throw WireError.badRequest("the default zone cannot be deleted")
            }
            guard let zone else { throw WireError.zoneNotFound(zoneID) }
            try delete(zone, in: database, call, transaction)
            return .deleted(call.answered(zone.name), nil)
        }
    }

    private static func create(
        _ name: String, in database: StoredDatabase, of count: Int, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZoneResult {
        try Names.checkZoneName(name, limits: call.limits)
        guard count < call.limits.zonesPerDatabase else {
            throw WireError.badRequest(
                "zone '\(WireError.shortened(name))' would be one more than the "
                    + "\(call.limits.zonesPerDatabase) of the database (zonesPerDatabase); "
                    + "delete some first",
                ckCode: CKErrorCode.limitExceeded
            )
        }
        let position = try transaction.advance(database.id, by: 1, at: call.now)
        let created = try transaction.createZones([(name, position)], in: database.id)
        if !database.subscriptionKinds.isEmpty {
            try transaction.appendOutbox([call.outboxEntry(.zoneCreated, zone: name, in: database)])
        }
        guard let zone = created.first else {
            preconditionFailure("a store created no zone and said nothing")
        }
        return try call.result(for: zone)
    }

    private static func delete(
        _ zone: StoredZone, in database: StoredDatabase, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws {
        let position = try transaction.advance(database.id, by: 1, at: call.now)
        try transaction.deleteZones([(zone.key, position)], reason: .deleted, at: call.now)
        guard !database.subscriptionKinds.isEmpty else { return }
        let ended = try transaction.removeSubscriptions(onZone: zone.name, in: database.id)
        try transaction.appendOutbox([
            call.outboxEntry(
                .zoneDeleted(.deleted, subscriptions: ended), zone: zone.name, in: database
            )
        ])
    }
}

extension Call {
    /// The outbox entry for something this call did to a zone.
    func outboxEntry(
        _ event: OutboxEntry.Event, zone: String, in database: StoredDatabase
    ) -> OutboxEntry {
        OutboxEntry(
            database: database.id, zoneName: zone, zoneOwner: zoneOwner, event: event,
            originUser: user?.id, originClient: clientID, committedAt: now
        )
    }
}

extension Sequence where Element: Hashable {
    /// The first element that stands in the sequence a second time.
    var firstDuplicate: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
