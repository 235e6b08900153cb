// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
@testable import TidebellCore
import TidebellWire

@Suite("Queries by indexes")
struct IndexedQueryTests {
    /// All indexes that queries of the world may use.
    private static let names = [
        "value text", "value whole", "value ratio", "value at", "value of", "value raw",
        "value ___recordID", "value ___createTime", "value ___modTime", "elements tags",
        "elements many", "words text", "words", "cells place",
    ]

    /// How many worlds of 250 queries there are: `Scripts/nightly` goes through more.
    private static let worlds =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_QUERY_WORLDS"].flatMap { Int($0) } ?? 1

    @Test(
        "QUERY-1 to QUERY-17: with indexes that come and go, pages are what a plain model returns",
        arguments: 0..<worlds)
    func comingAndGoing(world number: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var world = QueryWorld(seed: seed)
        let bench = try await Bench()
        let still = try await world.fill(bench)
        var (found, indexed) = (0, 0)
        for round in 0..<250 {
            let query = world.query()
            let zone = world.dice.pick([nil, "One", "Two"])
            let expected = PlainQuery(query: query).answer(
                among: still.filter { zone == nil || $0.zone == zone })
            var (answer, marker) = ([String](), String?.none)
            repeat {
                let (page, report) = try await bench.explained(
                    query, zone: zone, limit: 1 + world.dice.below(9), after: marker)
                indexed += report.uses.isEmpty ? 0 : 1
                answer += page.places.filter { !$0.contains("/w") }
                marker = page.continuationMarker
                try await disturb(&world, bench)
            } while marker != nil
            let isEqual =
                query.sorts.isEmpty ? answer.sorted() == expected.sorted() : answer == expected
            guard isEqual else {
                Issue.record(
                    "seed \(seed), round \(round): \(answer) instead of \(expected) for \(query)")
                return
            }
            found += expected.count
        }
        #expect(found > 250 && indexed > 250, "seed \(seed)")
        for zone in ["One", "Two"] {
            let difference = try await bench.differenceOfIndexes(in: zone)
            #expect(difference == [], "seed \(seed)")
        }
    }

    /// Changes or deletes records that nobody asks about, and takes steps at an index.
    private func disturb(_ world: inout QueryWorld, _ bench: Bench) async throws {
        let zone = world.dice.pick(["One", "Two"])
        let name = "w\(world.dice.below(6))"
        switch world.dice.below(8) {
        case 0, 1: try await world.save(name, in: zone, on: bench)
        case 2: try await bench.modify(.forceDelete(name), zone: zone)
        case 3: try await bench.dropIndex(world.dice.pick(Self.names), in: zone)
        case 4, 5, 6:
            try await bench.buildIndex(
                world.dice.pick(Self.names), in: zone, steps: world.dice.pick([0, 1, 99]))
        default: break
        }
    }

    @Test("What is looked at for a page grows with the page, not with the records")
    func cost() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for start in stride(from: 0, to: 2000, by: 200) {
            try await bench.modify((start..<start + 200).map(Self.note))
        }
        let questions: [(String, WireQuery, Int)] = [
            ("value n", .notes([WireFilter(.equals, .field("n"), .int64(777))]), 1),
            (
                "value n",
                .notes([WireFilter(.in, .field("n"), .list(.int64List, [.int64(1), .int64(5)]))]),
                2
            ),
            ("value n", .notes([WireFilter(.greaterThan, .field("n"), .int64(1000))]), 10),
            (
                "value title",
                .notes([WireFilter(.beginsWith, .field("title"), .string("Word 12"))]), 10
            ),
            (
                "words title",
                .notes([WireFilter(.containsAllTokens, .field("title"), .string("word 1234"))]), 1
            ),
            (
                "elements tags",
                .notes([WireFilter(.listContains, .field("tags"), .string("t99"))]), 10
            ),
            (
                "cells place",
                .notes([
                    WireFilter(
                        .near, .field("place"), .location(WireLocation(latitude: 10, longitude: 0)),
                        distance: 3000)
                ]), 5
            ),
            ("value n", .notes([], [WireSort(.field("n"), ascending: false)]), 10),
            (
                "value n",
                .notes(
                    [WireFilter(.lessThan, .field("n"), .int64(1500))],
                    [WireSort(.field("n"), ascending: false), WireSort(.field("title"))]), 10
            ),
            (
                "cells place",
                .notes(
                    [],
                    [
                        WireSort(
                            .field("place"),
                            relativeLocation: WireLocation(latitude: 10.0001, longitude: 0))
                    ]), 10
            ),
        ]
        for name in Set(questions.map(\.0)) { try await bench.buildIndex(name, in: "Notes") }
        for (name, query, count) in questions {
            let (page, report) = try await bench.explained(query, zone: "Notes", limit: 10)
            #expect(page.records.count == count, "\(query)")
            #expect(report.records <= 420, "\(name): \(report)")
            #expect(report.uses.count == 1, "\(name): \(report)")
            #expect(report.wishes == [])
        }
    }

    private static func note(_ number: Int) -> ModifyRecords.Operation {
        .save(
            .create, "n\(number)", title: "Word \(number)",
            fields: [
                "n": Field(.int64(Int64(number))),
                "tags": Field(.list(.stringList, [.string("t\(number % 100)"), .string("all")])),
                "place": Field(
                    .location(WireLocation(latitude: Double(number) / 100, longitude: 0))),
            ])
    }

    @Test("A query that looks at much and finds little wishes for an index; a short type does not")
    func wishes() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let query = WireQuery.notes([
            WireFilter(.equals, .field("n"), .int64(777)),
            WireFilter(.beginsWith, .field("title"), .string("W")),
        ])
        for start in stride(from: 0, to: 800, by: 200) {
            try await bench.modify((start..<start + 200).map(Self.note))
        }
        #expect(try await bench.explained(query, zone: "Notes", limit: 10).report.wishes == [])
        for start in stride(from: 800, to: 1200, by: 200) {
            try await bench.modify((start..<start + 200).map(Self.note))
        }
        let first = try await bench.explained(query, zone: "Notes", limit: 10).report
        #expect(first.wishes.map(\.name) == ["value n"])
        #expect(
            first.zones == [
                QueryReport.Zone(
                    name: "Notes",
                    source: .scan(
                        reason:
                            "no index is there; one is made when a query looks at many records "
                            + "and finds few, unless the zone has as many as it may"),
                    records: 1200, found: 1)
            ])
        let wish = try #require(first.wishes.first)
        let now = Instant(rawValue: 5)
        try await bench.store.write(.databaseWithID(wish.database)) {
            try BuildFieldIndex.begin(wish, limits: Limits(), at: now, in: $0)
        }
        let second = try await bench.explained(query, zone: "Notes", limit: 10).report
        #expect(second.wishes.map(\.name) == ["value title"])
        #expect(
            second.zones.map(\.source) == [
                .scan(reason: "the index of values of 'n' is being built")
            ])
        try await bench.buildIndex("value n", in: "Notes")
        let third = try await bench.explained(query, zone: "Notes", limit: 10).report
        #expect(
            third.zones == [
                QueryReport.Zone(
                    name: "Notes",
                    source: .index(
                        name: "values of 'n'", reason: "1 entry can pass the filters"),
                    records: 1, entries: 1, found: 1)
            ])
    }

    @Test("A zone has no more indexes than it may")
    func bound() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "a"))
        var limits = Limits()
        limits.indexesPerZone = 1
        for name in ["value title", "words title", "no form of this version"] {
            try await bench.begin(name, in: "Notes", limits: limits)
        }
        #expect(try await bench.indexes(in: "Notes").map(\.name) == ["value title"])
    }

    @Test("An index that nobody has used for days makes room for another in a full zone")
    func room() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "a"))
        try await bench.buildIndex("value title", in: "Notes")
        let first = try #require(try await bench.indexes(in: "Notes").first)
        var limits = Limits()
        limits.indexesPerZone = 1
        let day = Duration.seconds(24 * 60 * 60)
        for (days, names) in [(3, ["value title"]), (4, []), (4, ["words title"])] {
            let now = first.usedAt.advanced(by: day * days + .seconds(days == 3 ? 0 : 1))
            let wish = IndexInterest.Wish(
                database: first.database, zone: first.zone, recordType: "Note", name: "words title")
            try await bench.store.write(.databaseWithID(first.database)) { [limits] in
                try BuildFieldIndex.begin(wish, limits: limits, at: now, in: $0)
                _ = try BuildFieldIndex.step(first.id, limit: 10, in: $0)
            }
            #expect(try await bench.indexes(in: "Notes").map(\.name) == names)
        }
    }

    @Test("A save makes keys of the beginning of a long text, and of the words of short ones only")
    func longTexts() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let long = String(repeating: "Éa ", count: 4200)
        let texts = [
            "word": "Éa", "long": long, "marks": "e" + String(repeating: "\u{301}", count: 8200),
        ]
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            try await bench.modify(.save(.create, name, title: text))
        }
        let begins = WireQuery.notes([WireFilter(.beginsWith, .field("title"), .string("Éa É"))])
        let words = WireQuery.notes([WireFilter(.containsAllTokens, .field("title"), .string("ea"))]
        )
        let sorted = WireQuery.notes([], [WireSort(.field("title"))])
        for query in [begins, words, sorted] {
            let scanned = try await bench.explained(query, zone: "Notes", limit: 9).page.names
            for index in ["value title", "words title"] {
                try await bench.buildIndex(index, in: "Notes")
            }
            let (page, report) = try await bench.explained(query, zone: "Notes", limit: 9)
            #expect(page.names.sorted() == scanned.sorted())
            #expect(report.uses.count == 1)
            for index in try await bench.indexes(in: "Notes") {
                try await bench.dropIndex(index.name, in: "Notes")
            }
        }
        #expect(try await bench.query(begins, limit: 9).names == ["long"])
        #expect(try await bench.query(words, limit: 9).names.sorted() == ["long", "word"])
        let stamp = RecordStamp(timestamp: 1, userRecordName: "u", deviceID: "d")
        let record = StoredRecord(
            name: "long", type: "Note", position: .start, created: stamp, modified: stamp,
            fields: RecordFields(["title": Field(.string(long))]))
        #expect(IndexedForm.value(.field("title")).keys(of: record).map(\.rawValue.count) == [121])
        #expect(IndexedForm.words("title").keys(of: record) == [.always])
    }

    @Test("What several choices of one value have in common is found in one walk through each")
    func manyChoices() {
        func choice(_ numbers: some Sequence<Int64>) -> WireFilter {
            WireFilter(.in, .field("n"), .list(.int64List, numbers.map(FieldValue.int64)))
        }
        let sources = IndexSource.all(of: [
            choice(0..<1000), choice((500..<1500).reversed()),
            choice(repeatElement(700, count: 1000)),
            WireFilter(.lessThan, .field("n"), .int64(900)),
        ])
        let found = FieldIndexRange(only: FieldIndexKey(.number(.whole(700))))
        #expect(sources.map(\.ranges) == [[.always, found]])
        let more = IndexSource.all(of: [choice(0..<1000), choice(500..<1500)])
        #expect(more.map(\.ranges.count) == [501])
    }

    @Test("An order looks at each record once, however many entries of the index it has")
    func recordsOfSeveralEntries() async throws {
        var limits = Limits()
        limits.querySort.records = 300
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for start in stride(from: 0, to: 300, by: 100) {
            try await bench.modify((start..<start + 100).map(Self.note))
        }
        let tags = (0..<100).map { FieldValue.string("t\($0)") } + [.string("all")]
        let center = WireLocation(latitude: 10, longitude: 0)
        let questions: [(String, WireQuery)] = [
            (
                "elements tags",
                .notes(
                    [WireFilter(.listContainsAny, .field("tags"), .list(.stringList, tags))],
                    [WireSort(.field("title"))])
            ),
            ("cells place", .notes([], [WireSort(.field("place"), relativeLocation: center)])),
        ]
        for (index, query) in questions {
            let scanned = try await bench.explained(
                query, zone: "Notes", limit: 200, limits: limits
            ).page.names
            try await bench.buildIndex(index, in: "Notes", steps: 99)
            let (page, report) = try await bench.explained(
                query, zone: "Notes", limit: 200, limits: limits)
            #expect(page.names == scanned)
            #expect(report.uses.count == 1 && (report.zones.first?.records ?? .max) <= 300)
        }
    }

    @Test("Keys of values stand in the order of the evaluator, whatever the type")
    func keysHaveTheOrderOfValues() {
        let numbers: [Double] = [
            -.greatestFiniteMagnitude, -9.3e18, -9.223372036854775808e18, -1.5, -0.0, 0,
            .leastNonzeroMagnitude, 0.5, 1,
            9_007_199_254_740_992, 9.223372036854774784e18, 9.223372036854775808e18, 1e300,
        ]
        let wholes: [Int64] = [
            .min, .min + 1, -9_007_199_254_740_993, -1, 0, 1, 9_007_199_254_740_991,
            9_007_199_254_740_993, .max - 1, .max,
        ]
        let values =
            numbers.map { ComparisonKey.number(ExactNumber($0)) }
            + wholes.map { ComparisonKey.number(.whole($0)) }
            + ["", "a", "A", "\u{e4}", "ab", "\u{10FFFF}", "z"].map {
                ComparisonKey.text(CanonicalText(caseless: $0))
            }
        for one in values {
            for other in values {
                let (left, right) = (FieldIndexKey(one), FieldIndexKey(other))
                if one == other {
                    #expect(left == right)
                } else if let precedes = one.precedes(other) {
                    #expect((left < right) == precedes, "\(one) \(other)")
                } else {
                    #expect(left != right)
                }
            }
        }
    }

    @Test("QUERY-9: every location in a circle lies in its cells, at poles and the date line too")
    func cellsCoverCircles() {
        let seed = UInt64.random(in: .min ... .max)
        var dice = RandomPredicates(seed: seed)
        func degrees(_ limit: Int) -> Double {
            let edge = dice.below(5) == 0
            return edge
                ? Double(dice.pick([-limit, limit, 0]))
                : Double(dice.below(limit * 2_000_000)) / 1_000_000 - Double(limit)
        }
        var inside = 0
        for _ in 0..<400 {
            let center = WireLocation(latitude: degrees(90), longitude: degrees(180))
            let radius = dice.pick([1, 100, 10_000.0, 1_000_000, 15_000_000, 30_000_000])
            let ranges = GlobeCells.ranges(around: center, radius: radius)
            #expect(ranges.count <= GlobeCells.mostRanges)
            for _ in 0..<60 {
                let width = radius / 60_000
                var near = WireLocation(
                    latitude: center.latitude + degrees(90) / 90 * width,
                    longitude: center.longitude + degrees(180) / 90 * width)
                if dice.below(6) == 0 { near.longitude = -center.longitude }
                guard near.isOnEarth, near.distance(to: center) < radius else { continue }
                inside += 1
                let cell = GlobeCells.cell(of: near)
                #expect(
                    ranges.contains { $0.contains(cell) },
                    "seed \(seed): \(near) around \(center), \(radius) m")
            }
        }
        #expect(inside > 1000, "seed \(seed)")
    }
}

extension WireQuery {
    fileprivate static func notes(
        _ filters: [WireFilter], _ sorts: [WireSort] = []
    ) -> WireQuery {
        WireQuery(recordType: "Note", filters: filters, sorts: sorts)
    }
}

extension QueryRecords.Response {
    /// The names of the records with their zones, in order.
    fileprivate var places: [String] {
        records.compactMap { result in
            result.record.map { "\($0.zoneID.zoneName)/\($0.recordName)" }
        }
    }
}

/// Keeps the last report of queries.
private final class LastReport: Sendable {
    let report = Mutex(QueryReport())
}

extension Bench {
    /// A page of a query, and how it was found.
    func explained(
        _ query: WireQuery, zone: String?, limit: Int, after marker: String? = nil,
        limits: Limits = Limits()
    ) async throws -> (page: QueryRecords.Response, report: QueryReport) {
        let last = LastReport()
        var call = call(limits: limits)
        call.noteQuery = { report in last.report.withLock { $0 = report } }
        let page = try await self.query(
            query, zone: zone, zoneWide: true, limit: limit, after: marker, call: call)
        return (page, last.report.withLock { $0 })
    }

    func modify(_ operations: [ModifyRecords.Operation], zone: String = "Notes") async throws {
        let request = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: zone), operations: operations)
        _ = try await store.save(request, for: call())
    }

    func indexes(in zone: String) async throws -> [StoredFieldIndex] {
        let call = call()
        return try await store.read { reader in
            guard let database = try reader.database(call.database().key),
                let zone = try reader.zones([zone], in: database.id).first
            else { return [] }
            return try reader.fieldIndexes(in: zone.key, of: nil)
        }
    }

    /// Begins an index of notes.
    func begin(_ name: String, in zone: String, limits: Limits = Limits()) async throws {
        let call = call()
        try await store.write(try .database(of: call)) { transaction in
            guard let database = try transaction.database(call.database().key),
                let zone = try transaction.zones([zone], in: database.id).first
            else { return }
            let wish = IndexInterest.Wish(
                database: database.id, zone: zone.key, recordType: "Note", name: name)
            try BuildFieldIndex.begin(wish, limits: limits, at: call.now, in: transaction)
        }
    }

    /// Begins an index of notes and takes so many steps at it.
    func buildIndex(_ name: String, in zone: String, steps: Int = .max) async throws {
        try await begin(name, in: zone)
        guard let index = try await indexes(in: zone).first(where: { $0.name == name }) else {
            return
        }
        for _ in 0..<steps {
            let isDone = try await store.write(.databaseWithID(index.database)) {
                try BuildFieldIndex.step(index.id, limit: 10, in: $0)
            }
            if isDone { return }
        }
    }

    func dropIndex(_ name: String, in zone: String) async throws {
        guard let index = try await indexes(in: zone).first(where: { $0.name == name }) else {
            return
        }
        while try await !store.write(
            .databaseWithID(index.database), { try $0.dropFieldIndex(index.id, limit: 7) })
        {}
    }

    /// Where the ready indexes of a zone differ from its records.
    func differenceOfIndexes(in zone: String) async throws -> [String] {
        var found: [String] = []
        for index in try await indexes(in: zone) where index.state == .ready {
            let difference = try await store.read { reader in
                var expected: Set<FieldIndexEntry> = []
                try reader.scanRecords(of: index.recordType, in: [index.zone], after: nil) {
                    record, _ in
                    expected.formUnion(record.entries(in: [index]).flatMap(\.entries))
                    return true
                }
                let all = FieldIndexRange(
                    from: FieldIndexKey(rawValue: []), to: FieldIndexKey(rawValue: [255]))
                let there = try reader.fieldIndexEntries(
                    of: index.id, in: all, beyond: nil, reverse: false, limit: .max)
                return expected.symmetricDifference(there).count
            }
            if difference > 0 { found.append("\(index.name): \(difference)") }
        }
        return found
    }
}
