// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

@Suite("The index of subscriptions against a matcher that asks all")
struct SubscriptionIndexTests {
    /// A seed whose records and predicates meet by terms of all kinds but the rarest: what a seed of
    /// chance has of them is not known.
    private static let knownSeed: UInt64 = 1
    /// How many records meet a predicate: 4000 unless `TIDEBELL_TEST_INDEX_ROUNDS` says otherwise.
    private static let rounds =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_INDEX_ROUNDS"].flatMap { Int($0) }
        ?? 4000
    /// Enough for terms of all the kinds that the known seed has.
    private static let roundsOfKnownSeed = 30_000
    private static let kindsOfKnownSeed = 8

    @Test(
        "SUB-23: a record that passes a predicate has one of the predicate's terms, always",
        arguments: [knownSeed, .random(in: .min ... .max)])
    func terms(seed: UInt64) {
        var random = RandomPredicates(seed: seed, isWide: true)
        var indexed: [String: Int] = [:]
        for round in 0..<(seed == Self.knownSeed ? Self.roundsOfKnownSeed : Self.rounds) {
            if seed == Self.knownSeed, indexed.count == Self.kindsOfKnownSeed { break }
            let (record, filters) = (random.record(), random.filters())
            guard record.verdict(on: filters) == .matches else { continue }
            let terms = SubscriptionTerms(of: filters).terms
            let records = ChangedRecords([.of(record, named: record.name)])
            let isFound = records.triggers.contains { trigger in
                terms.contains { term in
                    guard let end = trigger.end else { return trigger.term == term }
                    return trigger.term <= term && term < end
                }
            }
            guard isFound else {
                Issue.record("seed \(seed), round \(round): \(terms), \(record), \(filters)")
                return
            }
            let sign = terms[0].rawValue.first { "=@^%~><#+".contains($0) }
            indexed[sign.map(String.init) ?? "", default: 0] += 1
        }
        guard seed == Self.knownSeed else { return }
        #expect(indexed.count == Self.kindsOfKnownSeed, "seed \(seed): \(indexed)")
    }

    @Test(
        "SUB-23, SUB-30: what is found by index, page by page, is what matches among all, while subscriptions come, change and go"
    )
    func churn() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var world = try await SubscriptionWorld(seed: seed)
        var fired = 0
        let rounds = Self.rounds / 40
        for round in 0..<rounds {
            try await world.changeSubscriptions()
            let entry = world.entry()
            let found = try await world.notified(of: entry)
            let expected = world.expected(of: entry)
            guard found == expected else {
                Issue.record("seed \(seed), round \(round): \(found) instead of \(expected)")
                return
            }
            fired += found.count
        }
        #expect(fired > rounds, "seed \(seed)")
    }

    @Test("SUB-23: what is stored under other terms than today's is held against every record")
    func storedByOthers() throws {
        var subscription = WireSubscription(
            subscriptionID: "s", kind: .query, recordType: "Note", firesOn: [.create])
        subscription.filters = [WireFilter(.greaterThan, .field("n"), .int64(1))]
        let change = RecordChange(
            recordName: "r", recordType: "Note", event: .created,
            fields: RecordFields(["n": Field(.int64(2))]))
        let entry = OutboxEntry(
            database: DatabaseID(rawValue: 1), zoneName: "Notes", zoneOwner: "_",
            event: .records([change]), originUser: nil, originClient: nil,
            committedAt: Instant(rawValue: 0))
        let stored = StoredSubscription(
            database: entry.database, user: UserID(rawValue: 1), subscription: subscription)
        var matcher = SubscriptionMatcher()
        let outcome = try matcher.matches(
            entry, candidates: [stored],
            records: ChangedRecords([change], asked: AskedTerms([:])), devices: [:])
        #expect(outcome.matches.count == 1)
        #expect(matcher.unindexed == 0)
    }
}

/// Subscriptions in a store, and the same in a list.
private struct SubscriptionWorld {
    private let bench: Bench
    private let database: DatabaseID
    private var random: RandomPredicates
    /// In the order of their serials.
    private var subscriptions: [WireSubscription] = []

    init(seed: UInt64) async throws {
        let bench = try await Bench()
        self.bench = bench
        random = RandomPredicates(seed: seed, isWide: true)
        let key = DatabaseKey(container: Bench.container, scope: .private, owner: bench.anna.id)
        database = try await bench.store.write(.everything) { try $0.makeDatabase(key).id }
    }

    /// Adds, changes and removes a few.
    mutating func changeSubscriptions() async throws {
        for _ in 0..<1 + random.below(8) {
            switch random.below(40) {
            case 0: try await endZone()
            case 1..<8: try await remove("s\(random.below(60))")
            default: try await save("s\(random.below(60))")
            }
        }
    }

    private mutating func save(_ id: String) async throws {
        var subscription = WireSubscription(
            subscriptionID: id, kind: .query, recordType: random.pick(["A", "B"]),
            firesOn: random.pick([[.create], [.create, .update], [.delete]]))
        subscription.filters = random.filters()
        if random.below(3) == 0 {
            subscription.zoneID = ZoneID(zoneName: random.pick(["Notes", "Other"]))
        }
        let stored = StoredSubscription(
            database: database, user: bench.anna.id, subscription: subscription)
        try await bench.store.write(.everything) { try $0.putSubscriptions([stored]) }
        if let index = subscriptions.firstIndex(where: { $0.subscriptionID == id }) {
            subscriptions[index] = subscription
        } else {
            subscriptions.append(subscription)
        }
    }

    private mutating func remove(_ id: String) async throws {
        let (user, database) = (bench.anna.id, database)
        try await bench.store.write(.everything) {
            try $0.removeSubscriptions([ExactText(id)], of: user, in: database)
        }
        subscriptions.removeAll { $0.subscriptionID == id }
    }

    private mutating func endZone() async throws {
        let database = database
        _ = try await bench.store.write(.everything) {
            try $0.removeSubscriptions(onZone: "Notes", in: database)
        }
        subscriptions.removeAll { $0.zoneID?.zoneName == "Notes" }
    }

    mutating func entry() -> OutboxEntry {
        OutboxEntry(
            database: database, zoneName: "Notes", zoneOwner: "_",
            event: .records((0..<5).map { RecordChange.of(random.record(), named: "\($0)") }),
            originUser: nil, originClient: nil, committedAt: Instant(rawValue: 0))
    }

    func expected(of entry: OutboxEntry) -> [String] {
        subscriptions.flatMap { subscription in
            entry.changes.filter {
                subscription.verdict(on: $0, inZone: entry.zoneName) == .fires
            }.map { "\(subscription.subscriptionID) \($0.recordName)" }
        }
    }

    /// Goes through an entry as the pipeline does, in pages of any length, however few terms a
    /// change may have, and however few families are asked for one by one.
    mutating func notified(of entry: OutboxEntry) async throws -> [String] {
        let (limit, families) = (1 + random.below(30), random.pick([0, 3, 200]))
        let terms = random.pick([0, 1, 3, 8, 100, ChangedRecords.termLimit])
        return try await bench.store.read { reader in
            let asked = try reader.asked(of: entry, limit: families)
            let records = ChangedRecords(entry.changes, asked: asked, termLimit: terms)
            var notified: [String] = []
            var serial = SubscriptionSerial.start
            while true {
                let page = try reader.subscriptions(
                    concerning: records, entry, after: serial, limit: limit)
                guard let last = page.last?.serial else { return notified }
                var matcher = SubscriptionMatcher()
                let outcome = try matcher.matches(
                    entry, candidates: page, records: records, devices: [:], limit: limit)
                notified += outcome.matches.compactMap { match in
                    guard case .record(let change) = match.cause else { return nil }
                    return "\(match.subscription.subscription.subscriptionID) \(change.recordName)"
                }
                serial = outcome.notifiedThrough ?? last
            }
        }
    }
}

extension RecordChange {
    /// The creation of a record.
    fileprivate static func of(_ record: RecordView, named name: String) -> RecordChange {
        let stamp = RecordStamp(timestamp: 0, userRecordName: "", deviceID: "")
        return RecordChange(
            recordName: name, recordType: record.type, event: .created,
            fields: RecordFields(record.fields),
            system: .init(
                created: record.created ?? stamp, modified: record.modified ?? stamp,
                parent: record.parent
            )
        )
    }
}

extension StoreReader {
    fileprivate func asked(of entry: OutboxEntry, limit: Int) throws -> AskedTerms {
        var asked: [String: Set<TermFamily>] = [:]
        for type in Set(entry.changes.map(\.recordType)) {
            let found = try termFamilies(
                in: entry.database, zoneName: entry.zoneName, recordType: type, limit: limit)
            guard let found else { return .all }
            asked[type] = found
        }
        return AskedTerms(asked)
    }

    /// Reads the subscriptions that a change may concern, with their content.
    fileprivate func subscriptions(
        concerning records: ChangedRecords, _ entry: OutboxEntry,
        after serial: SubscriptionSerial, limit: Int
    ) throws -> [StoredSubscription] {
        let outlines = try subscriptionOutlines(
            in: entry.database, zoneName: entry.zoneName, triggers: records.triggers,
            after: serial, limit: limit)
        return try subscriptions(outlines.map(\.serial), byteLimit: .max).subscriptions
    }
}
