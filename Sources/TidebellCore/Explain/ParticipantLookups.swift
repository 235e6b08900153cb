// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What explanations looked up about the participants of shared zones, so that many changes of one
/// zone ask for it once.
struct ParticipantLookups {
    /// Changes looked through of one zone in one database.
    private static let changes = 1_000
    /// Such zones that are remembered, and records that left what is shared.
    private static let remembered = 100
    /// Changes of hierarchies looked through for the one by which a record left, and their bytes.
    private static let departures = (changes: 2_000, bytes: 16 << 20)

    /// What of a kept change others are found by.
    struct Change {
        var id: OutboxEntryID
        var zoneOwner: String
        var committedAt: Instant
        var originUser: UserID?
        var originClient: String?
        /// The zone and its newest position after the change, of one that participants were to
        /// hear of.
        var zone: ZoneKey?
        var position: Position?

        fileprivate init(_ entry: OutboxEntry) {
            (id, zoneOwner, committedAt) = (entry.id, entry.zoneOwner, entry.committedAt)
            (originUser, originClient) = (entry.originUser, entry.originClient)
            (zone, position) = (entry.sharing?.zone, entry.sharing?.position)
        }
    }

    private struct Place: Hashable {
        var user: UserID
        var scope: DatabaseScope
        var zone: String
    }

    private struct Departure: Hashable {
        var record: String
        var shares: Set<String>
        var zone: ZoneKey
    }

    private var changes: [Place: [Change]] = [:]
    private var departures: [Departure: Position?] = [:]

    /// Returns what is kept of a zone in a user's database, newest first.
    mutating func changes(
        ofZone name: String, of user: StoredUser, _ scope: DatabaseScope,
        _ reader: any PushExplaining
    ) throws -> [Change] {
        let place = Place(user: user.id, scope: scope, zone: name)
        if let known = changes[place] { return known }
        var found: [Change] = []
        try KeptChangeQuery(ofZone: name, of: user, scope).forEach(in: reader, upTo: Self.changes) {
            found.append(Change($0.entry))
            return true
        }
        if changes.count == Self.remembered { changes = [:] }
        changes[place] = found
        return found
    }

    /// Returns where a record left the hierarchies of shares; nil where it did not, or too long ago.
    mutating func departure(
        of record: String, from shares: Set<String>, in zone: ZoneKey, _ reader: any PushExplaining
    ) throws -> Position? {
        let departure = Departure(record: record, shares: shares, zone: zone)
        if let known = departures[departure] { return known }
        let found = try reader.sharedRecordChanges(
            in: zone, of: shares, after: Position(rawValue: .max),
            limit: Self.departures.changes, byteLimit: Self.departures.bytes, reverse: true
        ).changes.first { $0.record.name == record }?.position
        if departures.count == Self.remembered { departures = [:] }
        departures[departure] = .some(found)
        return found
    }
}

extension KeptChangeQuery {
    /// Asks for the changes of a zone in a user's database.
    init(ofZone name: String, of user: StoredUser, _ scope: DatabaseScope) {
        self.init()
        container = user.container.container
        environment = user.container.environment
        self.scope = scope
        account = user.account
        zoneName = name
    }
}
