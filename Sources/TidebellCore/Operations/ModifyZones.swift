// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ModifyZones {
    /// Creates and deletes custom zones of the private database; each operation
    /// succeeds or fails alone (ZONE-11).
    package static func run(
        _ request: Request, for call: Call,
        in transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting & StorageUseReading
            & ShareReading
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
                "zone '\(WireError.shortened(twice))' is in the request twice")
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
        var room =
            try hasNew
            ? ZoneRoom(in: database, access, call.limits, transaction) : ZoneRoom()
        return ZonesResponse(
            zones: try request.operations.map { operation in
                do {
                    return try run(
                        operation, access, living: living, database, &room, call, transaction)
                } catch let error as WireError {
                    return .failed(operation.zoneID, error.visible(to: call))
                }
            }
        )
    }

    /// Announces what creating and deleting reads (``ReadingAhead/readAhead(_:)``).
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let access = try call.database()
        guard let database = try reader.database(access.key) else { return }
        _ = try reader.zones(Set(request.operations.map(\.zoneID.zoneName)), in: database.id)
        _ = try ZoneRoom(in: database, access, call.limits, reader)
    }

    private static func run(
        _ operation: Operation, _ access: DatabaseAccess, living: [String: ZoneAccess],
        _ database: StoredDatabase, _ room: inout ZoneRoom, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting & ShareReading
    ) throws -> ZoneResult {
        let zoneID = operation.zoneID
        guard access.owns(zoneID) else { throw WireError.zoneNotFound(zoneID) }
        let zone = living[zoneID.zoneName]
        switch operation {
        case .create:
            // ZONE-5: saving an existing zone is allowed and changes nothing.
            if let zone { return zone.result(for: call) }
            try Names.checkZoneName(zoneID.zoneName, limits: call.limits)
            try room.take(for: zoneID.zoneName)
            return try create(
                zoneID.zoneName, in: access, database, call, transaction
            ).result(for: call)
        case .delete:
            guard !zoneID.isDefault else {
                throw WireError.badRequest("the default zone cannot be deleted")
            }
            guard let zone, let stored = zone.zone else { throw WireError.zoneNotFound(zoneID) }
            try delete(zone, stored, in: database, call, transaction)
            room.giveBack()
            return .deleted(zone.zoneID, nil)
        }
    }

    private static func create(
        _ name: String, in access: DatabaseAccess, _ database: StoredDatabase,
        _ call: Call, _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting
    ) throws -> ZoneAccess {
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
        _ zone: ZoneAccess, _ stored: StoredZone, in database: StoredDatabase, _ call: Call,
        _ transaction: some ZoneWriting & SubscriptionWriting & OutboxWriting & ShareReading
    ) throws {
        let position = try transaction.advance(database.id, by: 1, at: call.now)
        let shared = try transaction.endOfSharing(stored, at: position)
        try transaction.deleteZones([(stored.key, position)], reason: .deleted, at: call.now)
        guard !database.subscriptionKinds.isEmpty || shared != nil else { return }
        let ended = try transaction.removeSubscriptions(
            onZone: zone.zoneID.zoneName, in: database.id
        )
        try transaction.appendOutbox([
            zone.outboxEntry(
                .zoneDeleted(.deleted, subscriptions: ended), sharing: shared, by: call,
                in: database
            )
        ])
    }
}

/// What a request may still create: as many zones as the database has room for, and as the
/// quota of its owner has.
private struct ZoneRoom {
    private var zones = 0
    private var used: Int64 = 0
    private var mostZones = 0
    private var quota: Quota?

    /// For a request that creates nothing.
    init() {}

    init(
        in database: StoredDatabase, _ access: DatabaseAccess, _ limits: Limits,
        _ reader: some ZoneReading & StorageUseReading
    ) throws {
        zones = try reader.livingZoneCount(in: database.id)
        mostZones = limits.zonesPerDatabase
        quota = access.quota(limits)
        if quota != nil { used = try access.quotaUse(database, in: reader).bytes }
    }

    mutating func take(for name: String) throws {
        guard zones < mostZones else {
            throw WireError.badRequest(
                "zone '\(WireError.shortened(name))' would be one more than the "
                    + "\(mostZones) of the database (zonesPerDatabase); delete some first",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.zonesPerDatabase)
        }
        if let quota, used + StoredZone.overhead > quota.bytes {
            throw quota.passed(byZone: name, used: used)
        }
        zones += 1
        used += StoredZone.overhead
    }

    /// What else a deleted zone held makes room from the next request on.
    mutating func giveBack() {
        zones -= 1
        used -= StoredZone.overhead
    }
}

extension Sequence where Element: Hashable {
    /// The first element that stands in the sequence a second time.
    var firstDuplicate: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
