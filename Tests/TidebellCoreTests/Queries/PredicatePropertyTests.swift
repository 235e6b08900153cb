// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Predicates against a plain model")
struct PredicatePropertyTests {
    @Test("QUERY-2 to QUERY-10: the evaluator agrees with the plain rules, filter by filter")
    func evaluator() {
        let seed = UInt64.random(in: .min ... .max)
        var random = RandomPredicates(seed: seed)
        var passed = 0
        for round in 0..<10_000 {
            let (record, filters) = (random.record(), random.filters())
            let failing = filters.first { !PlainFilter(filter: $0).passes(record) }
            let verdict = record.verdict(on: filters)
            let agrees =
                switch verdict {
                case .matches: failing == nil
                case .failed(let filter, _): failing == filter
                }
            guard agrees else {
                Issue.record("seed \(seed), round \(round): \(verdict), \(record), \(filters)")
                return
            }
            if failing == nil, !filters.isEmpty { passed += 1 }
        }
        // The world is small enough for predicates to hold now and then.
        #expect(passed > 250, "seed \(seed)")
    }

    @Test("A record that passes a predicate has the predicate's term, always")
    func terms() {
        let seed = UInt64.random(in: .min ... .max)
        var random = RandomPredicates(seed: seed)
        var indexed = 0
        for round in 0..<20_000 {
            let (record, filters) = (random.record(), random.filters())
            guard record.verdict(on: filters) == .matches else { continue }
            let term = SubscriptionTerm(of: filters)
            guard record.terms.contains(term) else {
                Issue.record("seed \(seed), round \(round): \(term), \(record), \(filters)")
                return
            }
            if term != .none { indexed += 1 }
        }
        #expect(indexed > 50, "seed \(seed)")
    }

    @Test("SUB-23: what the store finds by term, page by page, is what matches among all")
    func matching() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = RandomPredicates(seed: seed)
        let bench = try await Bench()
        let subscriptions = (0..<200).map { index in
            var subscription = WireSubscription(
                subscriptionID: "s\(index)", kind: .query, recordType: random.pick(["A", "B"]),
                firesOn: random.pick([[.create], [.create, .update], [.delete]])
            )
            subscription.filters = random.filters()
            return subscription
        }
        let user = bench.anna.id
        let key = DatabaseKey(container: Bench.container, scope: .private, owner: user)
        let database = try await bench.store.write(.everything) { transaction in
            let database = try transaction.makeDatabase(key).id
            try transaction.putSubscriptions(
                subscriptions.map {
                    StoredSubscription(database: database, user: user, subscription: $0)
                }
            )
            return database
        }
        for round in 0..<60 {
            let entry = OutboxEntry(
                database: database, zoneName: "Notes", zoneOwner: "_",
                event: .records((0..<5).map { RecordChange.of(random.record(), named: "\($0)") }),
                originUser: nil, originClient: nil, committedAt: Instant(rawValue: 0)
            )
            let expected = subscriptions.flatMap { subscription in
                entry.changes.filter { fires(subscription, on: $0) }.map {
                    "\(subscription.subscriptionID) \($0.recordName)"
                }
            }
            let limit = 1 + random.below(60)
            // However few terms a change may have, the same subscriptions are found.
            let terms = random.pick([0, 1, 3, 8, ChangedRecords.termLimit])
            let found = try await notified(entry, by: bench, pagesOf: limit, termsUpTo: terms)
            guard found == expected else {
                Issue.record("seed \(seed), round \(round): \(found) instead of \(expected)")
                return
            }
        }
    }

    private func fires(_ subscription: WireSubscription, on change: RecordChange) -> Bool {
        let record = RecordView(change)
        return subscription.recordType == change.recordType
            && subscription.firesOn.contains(.create)
            && subscription.filters.allSatisfy { PlainFilter(filter: $0).passes(record) }
    }

    /// Goes through an entry as the pipeline does.
    private func notified(
        _ entry: OutboxEntry, by bench: Bench, pagesOf limit: Int, termsUpTo termLimit: Int
    ) async throws -> [String] {
        let records = ChangedRecords(entry.changes, termLimit: termLimit)
        return try await bench.store.read { reader in
            var notified: [String] = []
            var serial = SubscriptionSerial.start
            while true {
                let page = try reader.subscriptions(
                    in: entry.database, zoneName: entry.zoneName, triggers: records.triggers,
                    after: serial, limit: limit
                )
                guard let last = page.last?.serial else { return notified }
                var matcher = SubscriptionMatcher()
                let outcome = try matcher.matches(
                    entry, candidates: page, records: records, devices: [:], limit: limit
                )
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
    /// Reads the subscriptions that a change may concern, with their content.
    fileprivate func subscriptions(
        in database: DatabaseID, zoneName: String, triggers: Set<SubscriptionTrigger>,
        after serial: SubscriptionSerial, limit: Int
    ) throws -> [StoredSubscription] {
        let outlines = try subscriptionOutlines(
            in: database, zoneName: zoneName, triggers: triggers, after: serial, limit: limit
        )
        return try subscriptions(outlines.map(\.serial), byteLimit: .max).subscriptions
    }
}
