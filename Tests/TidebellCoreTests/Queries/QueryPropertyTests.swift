// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Queries against a plain model")
struct QueryPropertyTests {
    @Test("QUERY-1 to QUERY-17: pages of random queries together are what a plain model returns")
    func pages() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var world = QueryWorld(seed: seed)
        let bench = try await Bench()
        let records = try await world.fill(bench)
        var found = 0
        for round in 0..<300 {
            let query = world.query()
            let zone = world.dice.pick([nil, "One", "Two"])
            let expected = PlainQuery(query: query).answer(
                among: records.filter { zone == nil || $0.zone == zone }
            )
            let answer = try await pages(
                of: query, zone: zone, on: bench, limit: 1 + world.dice.below(9)
            )
            guard answer == expected else {
                Issue.record(
                    "seed \(seed), round \(round): \(answer) instead of \(expected) for \(query)")
                return
            }
            found += expected.count
        }
        // The world is small enough for filters to hold now and then.
        #expect(found > 300, "seed \(seed)")
    }

    /// All pages of a query, as names with their zones.
    private func pages(
        of query: WireQuery, zone: String?, on bench: Bench, limit: Int
    ) async throws -> [String] {
        var (names, marker) = ([String](), String?.none)
        repeat {
            let page = try await bench.query(
                query, zone: zone, zoneWide: true, limit: limit, after: marker
            )
            #expect(page.records.count <= limit)
            names += page.records.compactMap { result in
                result.record.map { "\($0.zoneID.zoneName)/\($0.recordName)" }
            }
            marker = page.continuationMarker
        } while marker != nil
        return names
    }
}

/// A record of the model: where it is and what filters see of it.
struct PlacedRecord {
    var zone: String
    var view: RecordView
}

/// A small world of typed records, and queries that make sense in it.
struct QueryWorld {
    var dice: RandomPredicates

    init(seed: UInt64) {
        dice = RandomPredicates(seed: seed)
    }

    private static let fields: [(String, FieldType)] = [
        ("text", .string), ("whole", .int64), ("ratio", .double), ("at", .timestamp),
        ("place", .location), ("of", .reference), ("raw", .bytes), ("tags", .stringList),
        ("many", .referenceList),
    ]

    /// Puts records into two zones, some of them more than once, and returns them
    /// in the order of zones and changes.
    mutating func fill(_ bench: Bench) async throws -> [PlacedRecord] {
        for zone in ["One", "Two"] {
            try await bench.makeZone(zone)
            // Every field is known, whatever the dice leave out.
            let all = Self.fields.map { ($0.0, Field?.some(Field(value($0.1)))) }
            let known = Dictionary(uniqueKeysWithValues: all)
            try await bench.modify(.save(.create, "seed", fields: known), zone: zone)
            for _ in 0..<60 { try await save("r\(dice.below(40))", in: zone, on: bench) }
        }
        return try await records(of: "One", on: bench) + records(of: "Two", on: bench)
    }

    /// Saves a record with values of the world.
    mutating func save(_ name: String, in zone: String, on bench: Bench) async throws {
        var fields: [String: Field?] = [:]
        for (field, type) in Self.fields where dice.below(4) > 0 {
            fields[field] = Field(value(type))
        }
        let parent: String? = dice.below(3) == 0 ? "seed" : nil
        try await bench.modify(
            .save(.forceReplace, name, parent: parent, fields: fields), zone: zone)
    }

    func records(of zone: String, on bench: Bench) async throws -> [PlacedRecord] {
        let page = try await bench.changes(zone: zone).page
        return try (page?.records ?? []).compactMap(\.record).map { record in
            PlacedRecord(
                zone: zone,
                view: RecordView(
                    name: record.recordName, type: record.recordType, created: record.created,
                    modified: record.modified, parent: record.parent,
                    fields: try record.fields.decoded()
                )
            )
        }
    }

    mutating func query() -> WireQuery {
        WireQuery(
            recordType: "Note", filters: (0..<dice.below(3)).map { _ in filter() },
            sorts: (0..<dice.below(4)).map { _ in sort() }
        )
    }

    private mutating func sort() -> WireSort {
        let subject = dice.pick(
            ["text", "whole", "ratio", "at", "place"].map(WireFilter.Subject.field)
                + [.system(.recordName), .system(.createdTimestamp), .system(.modifiedTimestamp)]
        )
        // No two locations of the world are equally far from here.
        let here = WireLocation(latitude: 0.1234567, longitude: 178.7654321)
        return WireSort(
            subject, ascending: dice.below(2) == 0,
            relativeLocation: subject == .field("place") ? here : nil
        )
    }

    private mutating func filter() -> WireFilter {
        if dice.below(12) == 0 {
            let comparator = dice.pick([
                WireFilter.Comparator.containsAllTokens, .containsAnyTokens,
            ])
            return WireFilter(comparator, .allText, value(.string))
        }
        let (field, type) = dice.pick(Self.fields)
        let comparator = dice.pick(Self.comparators(of: type))
        let operand: FieldValue =
            switch comparator.operand {
            case .element, .prefix: value(type.element ?? .string)
            case .choices: .list(type.list, (0..<dice.below(4)).map { _ in value(type) })
            default: value(type)
            }
        let radius = dice.pick([1000.0, 200_000, 30_000_000])
        return WireFilter(
            comparator, .field(field), operand, distance: comparator == .near ? radius : nil
        )
    }

    /// The comparators that make sense for fields of a type.
    private static func comparators(of type: FieldType) -> [WireFilter.Comparator] {
        switch type {
        case .string:
            [
                .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan,
                .greaterThanOrEquals, .in, .beginsWith, .notBeginsWith, .containsAllTokens,
                .containsAnyTokens,
            ]
        case .stringList:
            [
                .listContains, .notListContains, .listContainsAny, .notListContainsAny,
                .listContainsAll, .notListContainsAll, .listMemberBeginsWith,
                .notListMemberBeginsWith,
            ]
        case .referenceList:
            [
                .listContains, .notListContains, .listContainsAny, .notListContainsAny,
                .listContainsAll, .notListContainsAll,
            ]
        case .location: [.near]
        case .reference, .bytes: [.equals, .notEquals, .in, .notIn]
        default:
            [
                .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan,
                .greaterThanOrEquals, .in, .notIn,
            ]
        }
    }

    private mutating func value(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: .string(dice.pick(["Sea", "SEA", "low tide", "caf\u{e9}", "the sea", ""]))
        case .int64: .int64(dice.pick([-1, 0, 1, 9_007_199_254_740_993]))
        case .double: .double(dice.pick([-0.5, 0, 1, 1.5, 9_007_199_254_740_992]))
        case .timestamp: .timestamp(Int64(dice.below(3)))
        case .location:
            .location(
                WireLocation(
                    latitude: Double(dice.below(3)), longitude: Double(dice.below(3)) + 178))
        case .reference: .reference(WireReference(recordName: dice.pick(["r1", "r2", "seed"])))
        case .bytes: .bytes(dice.pick([[], [1], [1, 2]]))
        default:
            .list(type, (0..<dice.below(3)).map { _ in value(type.element ?? .string) })
        }
    }
}

/// The rules of queries once more, as plainly and slowly as they can be written.
struct PlainQuery {
    let query: WireQuery

    /// The names of the records that match, with their zones, in order.
    ///
    /// - Parameter records: In the order of zones and changes.
    func answer(among records: [PlacedRecord]) -> [String] {
        let matching = records.filter { record in
            query.filters.allSatisfy { PlainFilter(filter: $0).passes(record.view) }
        }
        let ordered =
            query.sorts.isEmpty
            ? matching
            : matching.enumerated().sorted {
                stands($0.element, before: $1.element)
                    ?? (($0.offset < $1.offset) == query.sorts[0].ascending)
            }.map(\.element)
        return ordered.map { "\($0.zone)/\($0.view.name)" }
    }

    /// Nil for records that no sort key distinguishes.
    private func stands(_ left: PlacedRecord, before right: PlacedRecord) -> Bool? {
        for sort in query.sorts {
            let location = sort.relativeLocation
            let (one, other) = (key(left.view, sort), key(right.view, sort))
            if one == other { continue }
            // Missing is less than all, and farther than all.
            guard let one else { return (location == nil) == sort.ascending }
            guard let other else { return (location != nil) == sort.ascending }
            return (one < other) == sort.ascending
        }
        return nil
    }

    private func key(_ record: RecordView, _ sort: WireSort) -> PlainKey? {
        switch record.value(of: sort.subject) {
        case .string(let text)?:
            .text(sort.subject == .system(.recordName) ? text : text.lowercased())
        case .int64(let number)?, .timestamp(let number)?: .number(Double(number), number)
        case .double(let number)?: .number(number, 0)
        case .location(let location)?:
            sort.relativeLocation.map { .number(location.distance(to: $0), 0) }
        default: nil
        }
    }

    private enum PlainKey: Equatable, Comparable {
        case text(String)
        /// A number, and its exact value where that is whole.
        case number(Double, Int64)
    }
}
