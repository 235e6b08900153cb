// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is in the cell of a database.
extension CellReading {
    // MARK: Explanation

    func keptChange(_ id: OutboxEntryID) throws -> KeptChange? {
        try reader(of: id.database).keptChange(id)
    }

    func notifiedMatches(of change: OutboxEntryID, to user: UserID?, limit: Int) throws
        -> [NotifiedMatch]
    {
        try reader(of: change.database).notifiedMatches(of: change, to: user, limit: limit)
    }

    // MARK: Field index

    func fieldIndexes(in zone: ZoneKey, of type: String?) throws -> [StoredFieldIndex] {
        try reader(of: zone).fieldIndexes(in: zone, of: type)
    }

    func fieldIndex(_ id: FieldIndexID) throws -> StoredFieldIndex? {
        try reader(of: id).fieldIndex(id)
    }

    func fieldIndexEntries(
        of index: FieldIndexID, in range: FieldIndexRange, beyond entry: FieldIndexEntry?,
        reverse: Bool, limit: Int
    ) throws -> [FieldIndexEntry] {
        try reader(of: index).fieldIndexEntries(
            of: index, in: range, beyond: entry, reverse: reverse, limit: limit)
    }

    func fieldIndexEntryCount(of index: FieldIndexID, in range: FieldIndexRange, limit: Int)
        throws -> Int
    {
        try reader(of: index).fieldIndexEntryCount(of: index, in: range, limit: limit)
    }

    func records(
        at positions: [Position], in zone: ZoneKey, _ body: (Int, StoredRecord) throws -> Bool
    ) throws {
        try reader(of: zone).records(at: positions, in: zone, body)
    }

    // MARK: Outbox

    func zoneEnd(
        _ zoneName: String, in database: DatabaseID, afterOutbox position: OutboxPosition
    ) throws -> OutboxEntry? {
        try reader(of: database).zoneEnd(zoneName, in: database, afterOutbox: position)
    }

    // MARK: Record

    func records(_ names: Set<String>, in zone: ZoneKey, byteLimit: Int) throws -> [String:
        StoredRecord]?
    {
        try reader(of: zone).records(names, in: zone, byteLimit: byteLimit)
    }

    func recordsWithoutFields(_ names: Set<String>, in zone: ZoneKey) throws -> [String:
        StoredRecord]
    {
        try reader(of: zone).recordsWithoutFields(names, in: zone)
    }

    func recordChanges(
        in zone: ZoneKey, after position: Position, limit: Int, byteLimit: Int, reverse: Bool
    ) throws -> (records: [StoredRecord], isComplete: Bool) {
        try reader(of: zone).recordChanges(
            in: zone, after: position, limit: limit, byteLimit: byteLimit, reverse: reverse)
    }

    func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?) {
        try reader(of: zone).records(
            createdBy: user, in: zone, after: position, limit: limit, lookingAt: rows)
    }

    func references(to targets: Set<String>, in zone: ZoneKey) throws -> [StoredReference] {
        try reader(of: zone).references(to: targets, in: zone)
    }

    func children(of parents: Set<String>, in zone: ZoneKey, limit: Int) throws -> [String:
        [String]]?
    {
        try reader(of: zone).children(of: parents, in: zone, limit: limit)
    }

    func children(of parent: String, in zone: ZoneKey, after last: String, limit: Int)
        throws -> (names: [String], next: String?)
    {
        try reader(of: zone).children(of: parent, in: zone, after: last, limit: limit)
    }

    func deleteSelfCounts(to targets: Set<String>, in zone: ZoneKey) throws -> [String: Int] {
        try reader(of: zone).deleteSelfCounts(to: targets, in: zone)
    }

    // MARK: Settling

    func newestUnsettledRecord(in zone: ZoneKey) throws -> UnsettledRecord? {
        try reader(of: zone).newestUnsettledRecord(in: zone)
    }

    // MARK: Shared record

    func memberships(of names: Set<String>, in zone: ZoneKey) throws -> [String:
        HierarchyMembership]
    {
        try reader(of: zone).memberships(of: names, in: zone)
    }

    func departures(of names: Set<String>, in zone: ZoneKey) throws -> [String: [String:
        [Position]]]
    {
        try reader(of: zone).departures(of: names, in: zone)
    }

    func places(above names: Set<String>, in zone: ZoneKey, limit: Int) throws -> [String:
        HierarchyPlace]?
    {
        try reader(of: zone).places(above: names, in: zone, limit: limit)
    }

    func places(of names: Set<String>, in zone: ZoneKey) throws -> [String: HierarchyPlace] {
        try reader(of: zone).places(of: names, in: zone)
    }

    func sharedRecordChanges(
        in zone: ZoneKey, of shares: Set<String>, after position: Position, limit: Int,
        byteLimit: Int, reverse: Bool
    ) throws -> (changes: [SharedRecordChange], isComplete: Bool) {
        try reader(of: zone).sharedRecordChanges(
            in: zone, of: shares, after: position, limit: limit, byteLimit: byteLimit,
            reverse: reverse)
    }

    func newestSharedPosition(in zone: ZoneKey, of shares: Set<String>) throws -> Position? {
        try reader(of: zone).newestSharedPosition(in: zone, of: shares)
    }

    func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (Position, StoredRecord?) throws -> Bool
    ) throws {
        try reader(of: zone).scanRecords(of: type, in: zone, of: shares, after: position, body)
    }

    // MARK: Shared zone

    func sharedZoneChanges(in database: DatabaseID, after position: Position, limit: Int)
        throws -> [StoredSharedZone]
    {
        try reader(of: database).sharedZoneChanges(in: database, after: position, limit: limit)
    }

    func sharedZone(_ id: GrantedZoneID, in database: DatabaseID) throws
        -> StoredSharedZone?
    {
        try reader(of: database).sharedZone(id, in: database)
    }

    // MARK: Share

    func shares(_ names: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        try reader(of: zone).shares(names, in: zone)
    }

    func shares(ofRoots roots: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        try reader(of: zone).shares(ofRoots: roots, in: zone)
    }

    func shares(in zone: ZoneKey, after name: String, limit: Int) throws -> [StoredShare] {
        try reader(of: zone).shares(in: zone, after: name, limit: limit)
    }

    func shareRoots(in zone: ZoneKey, after name: String, limit: Int) throws -> [(
        share: String, root: String
    )] {
        try reader(of: zone).shareRoots(in: zone, after: name, limit: limit)
    }

    func grants(in zone: ZoneKey, of share: String?, after user: UserID?, limit: Int) throws
        -> [ShareGrant]
    {
        try reader(of: zone).grants(in: zone, of: share, after: user, limit: limit)
    }

    // MARK: Subscription

    func subscriptions(_ ids: Set<ExactText>?, of user: UserID, in database: DatabaseID)
        throws -> [StoredSubscription]
    {
        try reader(of: database).subscriptions(ids, of: user, in: database)
    }

    func subscriptionIDs(of user: UserID, in database: DatabaseID) throws -> [ExactText] {
        try reader(of: database).subscriptionIDs(of: user, in: database)
    }

    func subscriptionSummaries(of user: UserID, in database: DatabaseID) throws
        -> [SubscriptionSummary]
    {
        try reader(of: database).subscriptionSummaries(of: user, in: database)
    }

    func subscriptionOutlines(
        in database: DatabaseID, zoneName: String, triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial, limit: Int
    ) throws -> [SubscriptionOutline] {
        try reader(of: database).subscriptionOutlines(
            in: database, zoneName: zoneName, triggers: triggers, after: serial, limit: limit)
    }

    func termFamilies(
        in database: DatabaseID, zoneName: String, recordType: String, limit: Int
    ) throws -> Set<TermFamily>? {
        try reader(of: database).termFamilies(
            in: database, zoneName: zoneName, recordType: recordType, limit: limit)
    }

    func allSubscriptions(in database: DatabaseID, limit: Int, byteLimit: Int) throws -> (
        subscriptions: [StoredSubscription], bytes: Int
    )? {
        try reader(of: database).allSubscriptions(in: database, limit: limit, byteLimit: byteLimit)
    }

    func subscribers(in database: DatabaseID, limit: Int) throws -> [UserID] {
        try reader(of: database).subscribers(in: database, limit: limit)
    }

    // MARK: Zone

    func database(_ key: DatabaseKey) throws -> StoredDatabase? {
        try reader(of: key).database(key)
    }

    func database(id: DatabaseID) throws -> StoredDatabase? {
        try reader(of: id).database(id: id)
    }

    func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone] {
        try reader(of: database).zones(names, in: database)
    }

    func zoneChanges(in database: DatabaseID, after position: Position, limit: Int) throws
        -> [StoredZone]
    {
        try reader(of: database).zoneChanges(in: database, after: position, limit: limit)
    }

    func livingZoneCount(in database: DatabaseID) throws -> Int {
        try reader(of: database).livingZoneCount(in: database)
    }
}
