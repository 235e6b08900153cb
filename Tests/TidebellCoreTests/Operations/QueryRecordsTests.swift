// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("records/query: where, what and which")
struct QueryRecordsTests {
    private let notes = WireQuery(recordType: "Note", sorts: [.byName])

    /// A bench with the records a, b and c in the zone Notes.
    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(
            .save(.create, "b", title: "Sea", fields: ["n": Field(.int64(2))]),
            .save(.create, "a", title: "sea", fields: ["n": Field(.int64(1))]),
            .save(.create, "c", title: "Land", fields: ["n": Field(.int64(3))])
        )
        return bench
    }

    // MARK: Where

    @Test("QUERY-12: a query of the shared database demands a zone")
    func sharedDatabase() async throws {
        let bench = try await bench()
        let shared = bench.call(scope: .shared)
        let refusal = WireError.badRequest(
            "a query of the shared database needs a zoneID; it cannot search all zones"
        )
        #expect(try await bench.error(of: notes, zone: nil, call: shared) == refusal)
        #expect(
            try await bench.error(of: notes, zone: nil, zoneWide: true, call: shared) == refusal
        )
        let missing = try await bench.error(of: notes, zone: "Notes", call: shared)
        #expect(missing?.code == .zoneNotFound)
    }

    @Test("QUERY-13: zoneWide searches all zones, no zone the default one, a zone itself")
    func zones() async throws {
        let bench = try await bench()
        try await bench.makeZone("Drafts")
        try await bench.modify(.save(.create, "d"), zone: "Drafts")
        try await bench.modify(.save(.create, "e"), zone: "_defaultZone")
        let all = try await bench.query(notes, zone: nil, zoneWide: true)
        #expect(
            all.records.map { "\($0.record?.zoneID.zoneName ?? "") \($0.summary)" } == [
                "Notes a=sea", "Notes b=Sea", "Notes c=Land", "Drafts d", "_defaultZone e",
            ]
        )
        #expect(try await bench.query(notes, zone: nil).names == ["e"])
        #expect(try await bench.query(notes, zone: "Drafts").names == ["d"])
        #expect(try await bench.query(notes, zone: "Drafts", zoneWide: true).names == ["d"])
        try await bench.deleteZone("Drafts")
        #expect(
            try await bench.query(notes, zone: nil, zoneWide: true).names == ["a", "b", "c", "e"]
        )
    }

    @Test("SAVE-11: a zone that does not exist fails the query, a default zone never does")
    func missingZone() async throws {
        let bench = try await bench()
        #expect(
            try await bench.error(of: notes, zone: "No")
                == WireError(.zoneNotFound, "Zone 'No' does not exist")
        )
        #expect(try await bench.query(notes, zone: nil) == QueryRecords.Response(records: []))
    }

    @Test("ACCT-3: the public database is queried without a user, and only it")
    func access() async throws {
        let bench = try await bench()
        let write = bench.call(scope: .public)
        try await bench.modify(.save(.create, "p"), zone: "_defaultZone", call: write)
        var nobody = bench.call(scope: .public)
        nobody.user = nil
        #expect(try await bench.query(notes, zone: nil, call: nobody).names == ["p"])
        #expect(
            try await bench.query(notes, zone: nil, zoneWide: true, call: nobody).names == ["p"])
        nobody.scope = .private
        #expect(
            try await bench.error(of: notes, call: nobody) == WireError.authenticationRequired
        )
        // Otto's databases are his own.
        #expect(
            try await bench.query(notes, zone: nil, zoneWide: true, call: bench.call(bench.otto))
                == QueryRecords.Response(records: [])
        )
    }

    // MARK: What

    @Test("QUERY-11, QUERY-20: system and unknown types are refused")
    func types() async throws {
        let bench = try await bench()
        #expect(
            try await bench.error(of: WireQuery(recordType: "Users"))
                == .badRequest("records of the system type 'Users' cannot be queried")
        )
        #expect(
            try await bench.error(of: WireQuery(recordType: "Tide"))
                == WireError(.notFound, "Did not find record type: Tide")
        )
        #expect(
            try await bench.error(of: WireQuery(recordType: "note"))
                == WireError(.notFound, "Did not find record type: note; did you mean 'Note'?")
        )
        #expect(
            try await bench.error(of: WireQuery(recordType: ""))
                == .badRequest("a query needs a record type")
        )
        // A type that had records once is known.
        try await bench.modify(.forceDelete("a"), .forceDelete("b"), .forceDelete("c"))
        #expect(try await bench.query(notes).names == [])
    }

    @Test("ENV-1, QUERY-20: a type is known by its first record, though that has no field")
    func typeWithoutFields() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        #expect(try await bench.names() == ["a"])
        try await bench.modify(.save(.create, "b"))
        #expect(try await bench.names() == ["a", "b"])
    }

    @Test("QUERY-21: a field no record ever had is refused, in filters and in sort keys")
    func unknownFields() async throws {
        let bench = try await bench()
        let filter = WireFilter(.equals, .field("tide"), .string("x"))
        #expect(
            try await bench.error(of: WireQuery(recordType: "Note", filters: [filter]))
                == .badRequest(
                    "query: filterBy[0], EQUALS on 'tide': "
                        + "Did not find field: 'tide' in type 'Note'"
                )
        )
        let misspelled = WireFilter(.equals, .field("tilte"), .string("x"))
        #expect(
            try await bench.error(of: WireQuery(recordType: "Note", filters: [misspelled]))
                == .badRequest(
                    "query: filterBy[0], EQUALS on 'tilte': "
                        + "Did not find field: 'tilte' in type 'Note'; did you mean 'title'?"
                )
        )
        let sorts = [WireSort.byName, WireSort(.field("recordName"))]
        #expect(
            try await bench.error(of: WireQuery(recordType: "Note", sorts: sorts))
                == .badRequest(
                    "query: sortBy[1] on 'recordName': "
                        + "Did not find field: 'recordName' in type 'Note'; "
                        + "for the system field write systemFieldName"
                )
        )
        let mismatch = WireFilter(.lessThan, .field("title"), .int64(1))
        #expect(
            try await bench.error(of: WireQuery(recordType: "Note", filters: [mismatch]))
                == .badRequest(
                    "query: filterBy[0], LESS_THAN on 'title': "
                        + "Invalid value, expected type STRING but actual value was INT64"
                )
        )
    }

    @Test("QUERY-3, QUERY-8: all filters must hold; string equality ignores case")
    func filters() async throws {
        let bench = try await bench()
        let sea = WireFilter(.equals, .field("title"), .string("SEA"))
        #expect(try await bench.names(sea) == ["a", "b"])
        let big = WireFilter(.greaterThan, .field("n"), .double(1.5))
        #expect(try await bench.names(sea, big) == ["b"])
        #expect(try await bench.names(.nothing) == [])
        #expect(try await bench.names() == ["a", "b", "c"])
        #expect(
            try await bench.names(WireFilter(.containsAnyTokens, .allText, .string("the land")))
                == ["c"]
        )
    }

    @Test("QUERY-6: system fields are filtered and sorted by")
    func systemFields() async throws {
        let bench = try await bench()
        try await bench.modify(.save(.create, "d", parent: "a"))
        let records = try await bench.query(notes).records.compactMap(\.record)
        let last = try #require(records.last)
        #expect(
            try await bench.names(
                WireFilter(.in, .system(.recordName), .list(.stringList, [.string("c")])))
                == ["c"]
        )
        #expect(
            try await bench.names(
                WireFilter(
                    .greaterThanOrEquals, .system(.createdTimestamp),
                    .timestamp(last.created.timestamp))) == ["d"]
        )
        let anna = FieldValue.reference(WireReference(recordName: bench.anna.recordName))
        #expect(
            try await bench.names(WireFilter(.equals, .system(.createdUserRecordName), anna))
                == ["a", "b", "c", "d"]
        )
        #expect(
            try await bench.names(
                WireFilter(
                    .equals, .system(.parent), .reference(WireReference(recordName: "a"))))
                == ["d"]
        )
        #expect(
            try await bench.names(
                by: [WireSort(.system(.modifiedTimestamp), ascending: false), .byName])
                == ["d", "a", "b", "c"]
        )
    }

    @Test("QUERY-7: data is found by its bytes, and has no order")
    func bytes() async throws {
        let bench = try await bench()
        try await bench.modify(
            .save(.create, "x", fields: ["raw": Field(.bytes([1, 2]))]),
            .save(.create, "y", fields: ["raw": Field(.bytes([3]))])
        )
        #expect(
            try await bench.names(WireFilter(.equals, .field("raw"), .bytes([1, 2]))) == ["x"])
        let list = FieldValue.list(.bytesList, [.bytes([3]), .bytes([4])])
        #expect(try await bench.names(WireFilter(.in, .field("raw"), list)) == ["y"])
        let before = WireFilter(.lessThan, .field("raw"), .bytes([3]))
        #expect(
            try await bench.error(of: WireQuery(recordType: "Note", filters: [before]))
                == .badRequest(
                    "query: filterBy[0], LESS_THAN on 'raw': BYTES fields have no order")
        )
    }

    @Test("QUERY-10: references are found by their target, alone and in lists")
    func references() async throws {
        let bench = try await bench()
        let target = FieldValue.reference(WireReference(recordName: "a"))
        let other = FieldValue.reference(WireReference(recordName: "b", action: .validate))
        try await bench.modify(
            .save(.create, "x", fields: ["of": Field(target)]),
            .save(.create, "y", fields: ["many": Field(.list(.referenceList, [other, target]))])
        )
        #expect(try await bench.names(WireFilter(.equals, .field("of"), target)) == ["x"])
        #expect(try await bench.names(WireFilter(.listContains, .field("many"), target)) == ["y"])
        let choices = FieldValue.list(.referenceList, [target, other])
        #expect(try await bench.names(WireFilter(.in, .field("of"), choices)) == ["x"])
    }

    // MARK: Which

    @Test("QUERY-18, SAVE-20: what was saved is found at once, what was deleted no longer")
    func currency() async throws {
        let bench = try await bench()
        try await bench.modify(.save(.create, "d"), .forceDelete("a"))
        try await bench.modify(.save(.forceUpdate, "b", title: "Lake"))
        #expect(try await bench.names() == ["b", "c", "d"])
        let lake = WireFilter(.equals, .field("title"), .string("lake"))
        #expect(try await bench.names(lake) == ["b"])
    }

    @Test("TOK-13: desiredKeys nil is all, empty is none; numbers may come as text")
    func desiredKeys() async throws {
        let bench = try await bench()
        let call = bench.call()
        func fields(_ keys: [String]?, asText: Bool = false) async throws -> String {
            let request = QueryRecords.Request(
                query: notes, zoneID: ZoneID(zoneName: "Notes"), resultsLimit: 1,
                desiredKeys: keys, numbersAsStrings: asText
            )
            let response = try await bench.store.read {
                try QueryRecords.run(request, for: call, in: $0)
            }
            return String(decoding: response.records[0].record?.fields.json ?? [], as: UTF8.self)
        }
        #expect(try await fields([]) == "{}")
        #expect(try await fields(["n", "no"]) == #"{"n":{"value":1,"type":"INT64"}}"#)
        #expect(try await fields(["n"], asText: true) == #"{"n":{"value":"1","type":"INT64"}}"#)
        #expect(try await fields(nil).contains(#""title""#))
    }
}
