// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// The oldest pending changes of the databases whose turn it is, with all that
/// deciding about them takes: read in one snapshot, so that no rule has to ask the store
/// again.
///
/// Subscriptions are those of the moment of the read, not of the change: one
/// saved in between may be notified of a change before it, one deleted is not.
struct OutboxBatch {
    /// A change and who may want to know; nobody where its database is gone.
    struct Item {
        var entry: OutboxEntry
        var records: ChangedRecords
        /// Those after ``OutboxEntry/notifiedThrough``, in the order of their serials.
        var candidates: [StoredSubscription]
        /// Where the next pass goes on; nil when these are all candidates.
        var readThrough: SubscriptionSerial?
    }

    /// How far an entry is processed.
    struct Progress {
        var entry: OutboxEntryID
        var notifiedThrough: SubscriptionSerial
    }

    private(set) var items: [Item] = []
    /// The leases of the databases that have pending changes, and what their positions in the
    /// queue were.
    private(set) var held: [(lease: OutboxLease, version: OutboxVersion)] = []
    /// The database that it is about, where it is about one.
    var onlyDatabase: DatabaseID? { held.count == 1 ? held[0].lease.key : nil }
    private(set) var databases: [DatabaseID: StoredDatabase] = [:]
    /// The owners of the candidates: nobody whom no notification could reach.
    private(set) var users: [UserID: StoredUser] = [:]
    /// The devices of the owners of `firesOnce` candidates.
    private(set) var devices: [UserID: [StoredDevice]] = [:]
    /// The badges of the owners of candidates that count one (NINFO-11).
    private(set) var badges: [UserID: Int] = [:]
    /// Where the logs of candidates' owners ended: nothing that the batch makes stands before.
    private(set) var logEnds: [UserID: NotificationSequence] = [:]
    /// When the oldest change was committed.
    private(set) var oldest: Instant?
    /// How many entries the read found.
    private(set) var depth = 0

    /// Whether the bytes of changes or of subscriptions ended the batch.
    private(set) var isCutByBytes = false
    /// Subscriptions that cannot be read any more: they fire nothing.
    private(set) var damagedSubscriptions: Set<SubscriptionSerial> = []
    /// Databases whose changes cannot be read: theirs alone wait.
    private(set) var heldUp: Set<DatabaseID> = []
    /// Databases that are in the queue without a change, as one that had none for long or whose
    /// changes were lost with a damaged page, and where their processing ended.
    private(set) var unneeded: [(database: DatabaseID, done: OutboxPosition)] = []

    /// Reads at most so many entries and bytes of them, and no further one once there are so
    /// many candidates to look at, or so many bytes of them.
    ///
    /// An entry with more candidates than that is read as far as that, and the
    /// last of the batch: whoever is notified later than others still is notified in order.
    ///
    /// - Parameters:
    ///   - leases: The databases, held before the snapshot was taken.
    ///   - progress: How far an entry is processed that could not be changed.
    init(
        of leases: [OutboxLease],
        from reader: some OutboxReading & ZoneReading & SubscriptionReading & DeviceReading
            & BadgeReading & NotificationLogReading & SchemaReading & UserReading & ReadingAhead,
        within bounds: PushConfiguration, goingOnFrom progress: Progress? = nil
    ) throws {
        func readOutboxes(from reader: some OutboxReading) throws -> [DatabaseOutbox] {
            try reader.outboxes(
                of: leases.map(\.key), limit: bounds.entriesPerPass,
                byteLimit: bounds.changeBytesPerPass)
        }
        reader.readAhead { ahead in
            _ = try readOutboxes(from: ahead)
            for lease in leases {
                _ = try ahead.database(id: lease.key)
                _ = try ahead.allSubscriptions(
                    in: lease.key, limit: bounds.subscriptionsReadAtOnce,
                    byteLimit: bounds.subscriptionBytesPerPass)
            }
        }
        let outboxes = try readOutboxes(from: reader)
        unneeded = outboxes.filter { $0.entries.isEmpty && !$0.mayHaveMore }
            .map { ($0.database, $0.version.done) }
        let waiting = outboxes.filter { !$0.entries.isEmpty || $0.mayHaveMore }
        let versions = Dictionary(waiting.map { ($0.database, $0.version) }) { first, _ in first }
        held = leases.compactMap { lease in versions[lease.key].map { (lease, $0) } }
        let entries = outboxes.flatMap(\.entries)
        depth = entries.count
        oldest = entries.filter { $0.damage != .row }.map(\.committedAt).min()
        heldUp = Set(outboxes.filter(\.isUnreadable).map(\.database))
        let endings = try outboxes.flatMap { try Self.endings(in: $0, from: reader) }
        var candidates = CandidateReader(
            bytes: bounds.subscriptionBytesPerPass, few: bounds.subscriptionsReadAtOnce)
        var types = CandidateTypes()
        var left = bounds.notificationsPerPass
        for (index, entry) in entries.enumerated() where left > 0 {
            var entry = entry
            if let progress, progress.entry == entry.id, entry.damage == .row {
                entry.notifiedThrough = progress.notifiedThrough
            }
            let isKnown = try knowsDatabase(entry.database, from: reader)
            let asked =
                isKnown ? try candidates.askedTerms(of: entry, from: reader) : AskedTerms([:])
            let records = ChangedRecords(entry.changes, asked: asked)
            var item = Item(entry: entry, records: records, candidates: [])
            if isKnown {
                let page = try candidates.page(
                    of: entry, triggers: records.triggers, ending: endings[index], limit: left,
                    from: reader
                )
                (item.candidates, item.readThrough) = (page.candidates, page.readThrough)
                if let database = databases[entry.database]?.key {
                    try types.removeSilent(from: &item.candidates, in: database, reader)
                    item.records.search(
                        types.searchedFields(by: item.candidates, in: database))
                }
                left -= page.count
            }
            // It has all its subscribers yet to come.
            if item.readThrough == entry.notifiedThrough { break }
            items.append(item)
            if item.readThrough != nil { break }
        }
        isCutByBytes = candidates.isCut || outboxes.contains(where: \.isCutByBytes)
        users = candidates.users
        logEnds = try reader.newestNotifications(of: Set(users.keys))
        damagedSubscriptions = candidates.damaged
        try readDevices(from: reader)
    }

    private mutating func knowsDatabase(
        _ id: DatabaseID, from reader: some ZoneReading
    ) throws -> Bool {
        if databases[id] == nil { databases[id] = try reader.database(id: id) }
        return databases[id] != nil
    }

    private mutating func readDevices(from reader: some DeviceReading & BadgeReading) throws {
        var firesOnceOwners: Set<UserID> = []
        var badgeOwners: Set<UserID> = []
        for item in items {
            for candidate in item.candidates {
                if candidate.subscription.firesOnce { firesOnceOwners.insert(candidate.user) }
                if candidate.countsBadge { badgeOwners.insert(candidate.user) }
            }
        }
        badges = badgeOwners.isEmpty ? [:] : try reader.badges(of: badgeOwners)
        for owner in firesOnceOwners { devices[owner] = try reader.devices(of: owner) }
    }

    /// For each entry, the subscriptions that a later one takes away with the
    /// entry's zone: later in the batch, or beyond it unless these are all.
    private static func endings(
        in outbox: DatabaseOutbox, from reader: some OutboxReading
    ) throws -> [[StoredSubscription]] {
        let entries = outbox.entries
        var ended: [String: [StoredSubscription]] = [:]
        if outbox.mayHaveMore, let last = entries.last?.position {
            for zone in Set(entries.map(\.zoneName)) {
                ended[zone] = try reader.zoneEnd(
                    zone, in: outbox.database, afterOutbox: last
                )?.endedSubscriptions
            }
        }
        var endings = [[StoredSubscription]](repeating: [], count: entries.count)
        for (index, entry) in entries.enumerated().reversed() {
            if entry.endsZone {
                ended[entry.zoneName] = entry.endedSubscriptions
            } else {
                endings[index] = ended[entry.zoneName] ?? []
            }
        }
        return endings
    }
}
