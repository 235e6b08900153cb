// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of a database.
extension CellTransaction {
    // MARK: Asset

    func putAssetUses(
        _ uses: [String: Set<AssetContent>], in zone: ZoneKey, at now: Instant
    ) throws {
        try write(in: cells.cell(of: zone)) { try $0.putAssetUses(uses, in: zone, at: now) }
    }

    // MARK: Explanation

    func shorten(_ event: OutboxEntry.Event, of change: OutboxEntryID) throws {
        try write(in: cells.cell(of: change.database)) { try $0.shorten(event, of: change) }
    }

    // MARK: Field index

    func makeFieldIndex(
        _ name: String, of type: String, in zone: StoredZone, at now: Instant
    ) throws -> StoredFieldIndex {
        try write(in: cells.cell(of: zone.key)) {
            try $0.makeFieldIndex(name, of: type, in: zone, at: now)
        }
    }

    func putFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID) throws {
        try write(in: cells.cell(of: index)) { try $0.putFieldIndexEntries(entries, of: index) }
    }

    func removeFieldIndexEntries(_ entries: [FieldIndexEntry], of index: FieldIndexID)
        throws
    {
        try write(in: cells.cell(of: index)) {
            try $0.removeFieldIndexEntries(entries, of: index)
        }
    }

    func noteFieldIndex(
        _ index: FieldIndexID, builtThrough position: Position, isReady: Bool
    ) throws {
        try write(in: cells.cell(of: index)) {
            try $0.noteFieldIndex(index, builtThrough: position, isReady: isReady)
        }
    }

    func dropFieldIndex(_ index: FieldIndexID, limit: Int) throws -> Bool {
        try write(in: cells.cell(of: index)) { try $0.dropFieldIndex(index, limit: limit) }
    }

    // MARK: Field key

    func putFieldKey(_ key: WrappedKey, wrappedBy rootKeyID: String, of zone: ZoneKey)
        throws
    {
        try write(in: cells.cell(of: zone)) {
            try $0.putFieldKey(key, wrappedBy: rootKeyID, of: zone)
        }
    }

    func putSealed(_ records: [StoredRecord], in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.putSealed(records, in: zone) }
    }

    func removeUnsealed(_ names: Set<String>, in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.removeUnsealed(names, in: zone) }
    }

    // MARK: Outbox

    func setNotifiedThrough(_ serial: SubscriptionSerial, ofOutboxEntry id: OutboxEntryID)
        throws
    {
        try write(in: cells.cell(of: id.database)) {
            try $0.setNotifiedThrough(serial, ofOutboxEntry: id)
        }
    }

    func markNotified(upTo position: OutboxPosition, in database: DatabaseID, keeping: Bool)
        throws
    {
        try write(in: cells.cell(of: database)) {
            try $0.markNotified(upTo: position, in: database, keeping: keeping)
        }
    }

    // MARK: Record

    func putRecords(_ records: [StoredRecord], in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.putRecords(records, in: zone) }
    }

    func putReferences(
        _ references: [StoredReference], from sources: Set<String>, in zone: ZoneKey
    ) throws {
        try write(in: cells.cell(of: zone)) {
            try $0.putReferences(references, from: sources, in: zone)
        }
    }

    // MARK: Settling

    func noteUnsettled(_ names: [String], in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.noteUnsettled(names, in: zone) }
    }

    func putUnsettled(_ record: UnsettledRecord, in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.putUnsettled(record, in: zone) }
    }

    func removeUnsettled(_ name: String, in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.removeUnsettled(name, in: zone) }
    }

    func removeEndedHierarchies(in zone: ZoneKey, limit: Int) throws -> Int {
        try write(in: cells.cell(of: zone)) {
            try $0.removeEndedHierarchies(in: zone, limit: limit)
        }
    }

    func removeEarlierDepartures(in zone: ZoneKey, limit: Int) throws -> Int {
        try write(in: cells.cell(of: zone)) {
            try $0.removeEarlierDepartures(in: zone, limit: limit)
        }
    }

    func settleZone(_ zone: ZoneKey) throws -> Bool {
        try write(in: cells.cell(of: zone)) { try $0.settleZone(zone) }
    }

    // MARK: Shared record

    func putSharedRecords(_ records: [SharedRecord], in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.putSharedRecords(records, in: zone) }
    }

    // MARK: Shared zone

    func putSharedZone(_ zone: StoredSharedZone, in database: DatabaseID) throws {
        try write(in: cells.cell(of: database)) { try $0.putSharedZone(zone, in: database) }
    }

    // MARK: Share

    func putShares(_ shares: [StoredShare], in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.putShares(shares, in: zone) }
    }

    func removeShares(_ names: Set<String>, in zone: ZoneKey) throws {
        try write(in: cells.cell(of: zone)) { try $0.removeShares(names, in: zone) }
    }

    // MARK: Subscription

    func removeSubscriptions(
        _ ids: Set<ExactText>, of user: UserID, in database: DatabaseID
    ) throws {
        try write(in: cells.cell(of: database)) {
            try $0.removeSubscriptions(ids, of: user, in: database)
        }
    }

    func removeSubscriptions(onZone name: String, in database: DatabaseID) throws
        -> [StoredSubscription]
    {
        try write(in: cells.cell(of: database)) {
            try $0.removeSubscriptions(onZone: name, in: database)
        }
    }

    // MARK: Zone

    func advance(
        _ database: DatabaseID, by count: Int, at now: Instant, adding change: StorageUse
    ) throws -> Position {
        try write(in: cells.cell(of: database)) {
            try $0.advance(database, by: count, at: now, adding: change)
        }
    }

    func createZones(_ zones: [(name: String, position: Position)], in database: DatabaseID)
        throws -> [StoredZone]
    {
        try write(in: cells.cell(of: database)) { try $0.createZones(zones, in: database) }
    }

    func touchZone(
        _ zone: ZoneKey, position: Position, clientChangeToken: [UInt8]?, adding change: StorageUse
    ) throws {
        try write(in: cells.cell(of: zone)) {
            try $0.touchZone(
                zone, position: position, clientChangeToken: clientChangeToken, adding: change)
        }
    }

    func expireTokens(of database: DatabaseID, before position: Position) throws {
        try write(in: cells.cell(of: database)) {
            try $0.expireTokens(of: database, before: position)
        }
    }
}
