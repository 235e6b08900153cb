// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Reads the candidates of the changes of one pass, each subscription once however many
/// changes it is held against, and only those of users whom a notification can reach.
///
/// Of a database with few subscriptions, as those of most users are, all are read at once: no
/// change of theirs is looked up by its terms, which costs more than holding it against all.
///
/// All within one snapshot, in which a serial stands for one content.
struct CandidateReader {
    /// Some of the subscriptions that a change may concern.
    struct Page {
        var candidates: [StoredSubscription]
        /// Where the next pass goes on; nil when these are all candidates.
        var readThrough: SubscriptionSerial?
        /// How many subscriptions were looked at, those of unreachable users included.
        var count: Int
    }

    /// Those of the owners met so far whom a notification can reach.
    private(set) var users: [UserID: StoredUser] = [:]
    /// Those that cannot be read any more: they fire nothing.
    private(set) var damaged: Set<SubscriptionSerial> = []
    /// Whether a page ended because there were too many bytes.
    private(set) var isCut = false
    private var asked: Set<UserID> = []
    private var known: [SubscriptionSerial: StoredSubscription] = [:]
    private var families: [FamilyKey: Set<TermFamily>?] = [:]
    /// The subscriptions of databases that have few; nil of one that has more.
    private var few: [DatabaseID: [StoredSubscription]?] = [:]
    private let mostOfFew: Int
    private var bytesLeft: Int

    private struct FamilyKey: Hashable {
        var database: DatabaseID
        var zoneName: String
        var recordType: String
    }

    /// More families of terms than these are not looked at one by one: a change has then terms of
    /// whatever could be asked for.
    static let mostFamilies = 200

    /// Creates a reader of so many bytes; the subscription that passes them is the last.
    ///
    /// - Parameter few: The most subscriptions of a database that are read at once.
    init(bytes: Int, few: Int) {
        bytesLeft = bytes
        mostOfFew = few
    }

    /// Finds out which terms the records of a change need.
    mutating func askedTerms(
        of entry: OutboxEntry, from reader: some SubscriptionReading
    ) throws -> AskedTerms {
        var asked: [String: Set<TermFamily>] = [:]
        for type in Set(entry.changes.map(\.recordType)) {
            let key = FamilyKey(
                database: entry.database, zoneName: entry.zoneName, recordType: type)
            if families[key] == nil {
                families.updateValue(
                    try readFamilies(of: type, concerning: entry, from: reader), forKey: key)
            }
            guard let known = families[key] ?? nil else { return .all }
            asked[type] = known
        }
        return AskedTerms(asked)
    }

    private mutating func readFamilies(
        of type: String, concerning entry: OutboxEntry, from reader: some SubscriptionReading
    ) throws -> Set<TermFamily>? {
        guard let all = try few(in: entry.database, from: reader) else {
            return try reader.termFamilies(
                in: entry.database, zoneName: entry.zoneName, recordType: type,
                limit: Self.mostFamilies)
        }
        let concerned = all.filter {
            $0.subscription.recordType == type && $0.mayConcern(entry, ofTypes: [type])
        }
        let terms = concerned.flatMap { SubscriptionTerms(of: $0.subscription.filters).terms }
        return Set(terms.compactMap { TermFamily(of: $0) })
    }

    /// Reads the next subscriptions that the change may concern: those of the
    /// store, and those that stood when it was made but ended with its zone since.
    mutating func page(
        of entry: OutboxEntry, triggers: Set<SubscriptionTrigger>,
        ending: [StoredSubscription], limit: Int,
        from reader: some SubscriptionReading & DeviceReading & ReadingAhead
    ) throws -> Page {
        let stored = try outlines(of: entry, triggers: triggers, limit: limit, from: reader)
        let allEnded = ending + entry.endedSubscriptions
        try meet(stored.map(\.user) + allEnded.map(\.user), in: reader)
        let readThrough = try read(stored, after: entry.notifiedThrough, from: reader)
        // What was saved anew since then is notified of later changes.
        let endedKeys = Set(allEnded.map(\.key))
        let ended = allEnded.filter { $0.serial > entry.notifiedThrough && users[$0.user] != nil }
        let standing = stored.compactMap { known[$0.serial] }
            .filter { users[$0.user] != nil && !endedKeys.contains($0.key) }
        var page = Page(
            candidates: (standing + ended).sorted { $0.serial < $1.serial },
            readThrough: readThrough, count: stored.count + ended.count
        )
        // Beyond the last one read others may stand in the store.
        if readThrough == nil, stored.count >= limit { page.readThrough = stored.last?.serial }
        if let last = page.readThrough { page.candidates.removeAll { $0.serial > last } }
        if page.candidates.count > limit {
            page.candidates.removeLast(page.candidates.count - limit)
            page.readThrough = page.candidates.last?.serial
        }
        return page
    }

    private mutating func outlines(
        of entry: OutboxEntry, triggers: Set<SubscriptionTrigger>, limit: Int,
        from reader: some SubscriptionReading
    ) throws -> [SubscriptionOutline] {
        guard let all = try few(in: entry.database, from: reader) else {
            return try reader.subscriptionOutlines(
                in: entry.database, zoneName: entry.zoneName, triggers: triggers,
                after: entry.notifiedThrough, limit: limit
            )
        }
        let types = Set(entry.changes.map(\.recordType))
        return all.lazy.filter {
            $0.serial > entry.notifiedThrough && $0.mayConcern(entry, ofTypes: types)
        }.prefix(limit).map { SubscriptionOutline(serial: $0.serial, user: $0.user) }
    }

    /// All subscriptions of a database, read at its first change; nil where they are not few.
    private mutating func few(
        in database: DatabaseID, from reader: some SubscriptionReading
    ) throws -> [StoredSubscription]? {
        if let known = few[database] { return known }
        let found = try reader.allSubscriptions(
            in: database, limit: mostOfFew, byteLimit: bytesLeft)
        few.updateValue(found?.subscriptions, forKey: database)
        guard let found else { return nil }
        bytesLeft -= found.bytes
        for subscription in found.subscriptions { known[subscription.serial] = subscription }
        return found.subscriptions
    }

    /// Finds out whom of these users a notification can reach.
    private mutating func meet(
        _ owners: [UserID], in reader: some DeviceReading & ReadingAhead
    ) throws {
        let new = Set(owners).subtracting(asked)
        guard !new.isEmpty else { return }
        asked.formUnion(new)
        // What the batch asks of them at its end: mostly these are all, and all can be reached.
        reader.readAhead { _ = try $0.newestNotifications(of: new) }
        users.merge(try reader.reachableUsers(among: new)) { _, new in new }
    }

    /// Reads the content of those that are not known; returns the serial before the first
    /// one for which no bytes were left, or nil.
    private mutating func read(
        _ outlines: [SubscriptionOutline], after start: SubscriptionSerial,
        from reader: some SubscriptionReading
    ) throws -> SubscriptionSerial? {
        let missing = outlines.filter {
            known[$0.serial] == nil && !damaged.contains($0.serial) && users[$0.user] != nil
        }
        guard let first = missing.first else { return nil }
        var firstUnread: SubscriptionSerial? = first.serial
        if bytesLeft > 0 {
            let (found, unreadable, bytes) = try reader.subscriptions(
                missing.map(\.serial), byteLimit: bytesLeft
            )
            bytesLeft -= bytes
            for subscription in found { known[subscription.serial] = subscription }
            damaged.formUnion(unreadable)
            firstUnread =
                missing.first { known[$0.serial] == nil && !damaged.contains($0.serial) }?.serial
        }
        guard let firstUnread else { return nil }
        isCut = true
        return outlines.last { $0.serial < firstUnread }?.serial ?? start
    }
}

extension StoredSubscription {
    /// Whether a change with records of these types may concern it, whatever is in them.
    fileprivate func mayConcern(_ entry: OutboxEntry, ofTypes types: Set<String>) -> Bool {
        let zoneName = subscription.zoneID?.zoneName
        return switch subscription.kind {
        case .database: true
        case .zone: zoneName == entry.zoneName
        case .query:
            zoneName.map { $0 == entry.zoneName } ?? true
                && subscription.recordType.map(types.contains) ?? false
        }
    }
}
