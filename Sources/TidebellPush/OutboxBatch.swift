// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// The oldest changes not yet told, with all that deciding about them takes:
/// read in one snapshot, so that no rule has to ask the store again.
///
/// Subscriptions are those of the moment of the read, not of the change: one
/// saved in between may be told of a change before it, one deleted is not told.
struct OutboxBatch {
    /// A change and who may want to know; nobody where its database is gone.
    struct Item {
        var entry: OutboxEntry
        var candidates: [StoredSubscription]
    }

    private(set) var items: [Item] = []
    private(set) var databases: [DatabaseID: StoredDatabase] = [:]
    /// The owners of the candidates.
    private(set) var users: [UserID: StoredUser] = [:]
    /// The devices of the owners of `firesOnce` candidates.
    private(set) var devices: [UserID: [StoredDevice]] = [:]
    /// The badges of the owners of candidates that count one (NINFO-11).
    private(set) var badges: [UserID: Int] = [:]
    /// When the oldest change was committed.
    private(set) var oldest: Instant?
    /// How many entries the read found.
    private(set) var depth = 0

    /// Reads at most `entries`, and no further one once there are `candidates`
    /// subscriptions to look at.
    init(from reader: any StoreReader, entries limit: Int, candidates bound: Int) throws {
        let entries = try reader.outbox(limit: limit)
        depth = entries.count
        oldest = entries.first?.committedAt
        let endings = Self.endings(entries)
        var count = 0
        for (index, entry) in entries.enumerated() where count < bound {
            var candidates: [StoredSubscription] = []
            if try knowsDatabase(entry.database, from: reader) {
                candidates = try Self.candidates(for: entry, ending: endings[index], from: reader)
            }
            count += candidates.count
            items.append(Item(entry: entry, candidates: candidates))
        }
        try readPeople(from: reader)
    }

    private mutating func knowsDatabase(
        _ id: DatabaseID, from reader: any StoreReader
    ) throws -> Bool {
        if databases[id] == nil { databases[id] = try reader.database(id: id) }
        return databases[id] != nil
    }

    private mutating func readPeople(from reader: any StoreReader) throws {
        var owners: Set<UserID> = []
        var firesOnceOwners: Set<UserID> = []
        var badgeOwners: Set<UserID> = []
        for item in items {
            for candidate in item.candidates + item.entry.endedSubscriptions {
                owners.insert(candidate.user)
                if candidate.subscription.firesOnce { firesOnceOwners.insert(candidate.user) }
                if candidate.countsBadge { badgeOwners.insert(candidate.user) }
            }
        }
        users = owners.isEmpty ? [:] : try reader.users(owners)
        badges = badgeOwners.isEmpty ? [:] : try reader.badges(of: badgeOwners)
        for owner in firesOnceOwners { devices[owner] = try reader.devices(of: owner) }
    }

    /// The subscriptions that a change may concern: those of the store, and those
    /// that stood when it was made but ended with its zone since.
    private static func candidates(
        for entry: OutboxEntry, ending: [StoredSubscription], from reader: any StoreReader
    ) throws -> [StoredSubscription] {
        let candidates = try reader.subscriptions(
            in: entry.database, zoneName: entry.zoneName, recordTypes: entry.recordTypes
        )
        guard !ending.isEmpty else { return candidates }
        let known = Set(candidates.map(\.key))
        return candidates + ending.filter { !known.contains($0.key) }
    }

    /// For each entry, the subscriptions that a later entry takes away with the
    /// entry's zone.
    private static func endings(_ entries: [OutboxEntry]) -> [[StoredSubscription]] {
        struct Zone: Hashable {
            var database: DatabaseID
            var name: String
        }
        var ended: [Zone: [StoredSubscription]] = [:]
        var endings = [[StoredSubscription]](repeating: [], count: entries.count)
        for (index, entry) in entries.enumerated().reversed() {
            let zone = Zone(database: entry.database, name: entry.zoneName)
            if case .zoneDeleted(_, let subscriptions) = entry.event {
                ended[zone] = subscriptions
            } else {
                endings[index] = ended[zone] ?? []
            }
        }
        return endings
    }
}

extension OutboxEntry {
    /// The types of the records that changed.
    fileprivate var recordTypes: Set<String> {
        guard case .records(let changes) = event else { return [] }
        return Set(changes.map(\.recordType))
    }

    /// The subscriptions that ended with the zone.
    fileprivate var endedSubscriptions: [StoredSubscription] {
        guard case .zoneDeleted(_, let subscriptions) = event else { return [] }
        return subscriptions
    }
}
