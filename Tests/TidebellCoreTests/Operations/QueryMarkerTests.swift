// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellCore

@Suite("records/query: continuation markers")
struct QueryMarkerTests {
    private let sorted = WireQuery(recordType: "Note", sorts: [WireSort(.field("title"))])
    private let plain = WireQuery(recordType: "Note")

    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for title in ["a", "b", "c", "d"] {
            try await bench.modify(.save(.create, title, title: title))
        }
        return bench
    }

    @Test("QUERY-17: a marker is a position, not a snapshot: what comes behind it is found")
    func relative() async throws {
        let bench = try await bench()
        let first = try await bench.query(sorted, limit: 2)
        #expect(first.names == ["a", "b"])
        try await bench.modify(
            .save(.create, "before", title: "aa"), .save(.create, "behind", title: "cc"),
            .forceDelete("b"), .forceDelete("d")
        )
        let rest = try await bench.query(sorted, after: first.continuationMarker)
        #expect(rest.names == ["c", "behind"])
        #expect(rest.continuationMarker == nil)
    }

    @Test("QUERY-17: without an order, what changes while pages are read comes again, never less")
    func relativeToChanges() async throws {
        let bench = try await bench()
        let first = try await bench.query(plain, limit: 2)
        #expect(first.names == ["a", "b"])
        try await bench.modify(.save(.forceUpdate, "a", title: "new"), .forceDelete("b"))
        let rest = try await bench.query(plain, after: first.continuationMarker)
        #expect(rest.names == ["c", "d", "a"])
    }

    @Test("A marker that was damaged or made up is refused", arguments: ["", "x", "AAAA", "e30"])
    func madeUp(marker: String) async throws {
        let bench = try await bench()
        let refusal = WireError.badRequest("the continuationMarker was not issued by this server")
        #expect(try await bench.error(of: sorted, after: marker) == refusal)
        let page = try await bench.query(sorted, limit: 1)
        let real = try #require(page.continuationMarker)
        for index in real.indices {
            var damaged = real
            let other: Character = real[index] == "A" ? "B" : "A"
            damaged.replaceSubrange(index...index, with: [other])
            // The last character may hold bits that mean nothing.
            guard index != real.indices.last else { continue }
            #expect(try await bench.error(of: sorted, after: damaged) == refusal, "\(damaged)")
        }
        #expect(try await bench.error(of: sorted, after: real + "AAAA") == refusal)
    }

    @Test("A marker goes on with its own query only: type, filters, sorts, zone and database")
    func otherQuery() async throws {
        let bench = try await bench()
        try await bench.makeZone("Other")
        let marker = try #require(try await bench.query(sorted, limit: 1).continuationMarker)
        let refusal = WireError.badRequest(
            "the continuationMarker belongs to another query; resend the query and its zone "
                + "unchanged, or begin without a marker"
        )
        var others = [plain, sorted, sorted]
        others[1].filters = [WireFilter(.notEquals, .field("title"), .string("x"))]
        others[2].sorts[0].ascending = false
        for query in others {
            #expect(try await bench.error(of: query, after: marker) == refusal)
        }
        #expect(try await bench.error(of: sorted, zone: "Other", after: marker) == refusal)
        #expect(
            try await bench.error(of: sorted, zone: nil, zoneWide: true, after: marker) == refusal)
        let otto = bench.call(bench.otto)
        try await bench.makeZone("Notes", otto)
        #expect(try await bench.error(of: sorted, after: marker, call: otto) == refusal)
        #expect(try await bench.query(sorted, limit: 2, after: marker).names == ["b", "c"])
    }

    @Test(
        "QUERY-17: a marker of an index belongs to its query and its user, and a forged one shows nothing of others"
    )
    func indexMarkers() async throws {
        let bench = try await bench()
        let otto = bench.call(bench.otto)
        try await bench.makeZone("Notes", otto)
        let query = WireQuery(
            recordType: "Note", filters: [WireFilter(.greaterThan, .field("title"), .string("a"))])
        try await bench.buildIndex("value title", in: "Notes")
        let (page, report) = try await bench.explained(query, zone: "Notes", limit: 1)
        #expect(page.names == ["b"] && report.uses.count == 1)
        let marker = try #require(page.continuationMarker)
        #expect(try await bench.error(of: query, after: marker, call: otto) == .foreignMarker)
        var other = query
        other.filters[0].value = .string("b")
        #expect(try await bench.error(of: other, after: marker) == .foreignMarker)
        // Whoever makes up a marker of their own query that names somebody else's zone.
        let real = try #require(QueryMarker(text: marker, sealedBy: otto.markerSeal))
        let theirs = QueryRecords.Request(query: query, zoneID: ZoneID(zoneName: "Notes"))
        let hash = theirs.hash(in: try otto.database().key, for: otto)
        guard case .entry(var place) = real.position else {
            Issue.record("\(real)")
            return
        }
        for source in [0, 7, -1] {
            place.source = source
            let forged = QueryMarker(query: hash, position: .entry(place))
                .text(sealedBy: otto.markerSeal)
            let found = try? await bench.query(query, after: forged, call: otto)
            #expect(found?.names ?? [] == [])
        }
        #expect(try await bench.query(query, after: marker).names == ["c", "d"])
    }

    @Test("A zone that was made again under its name is read from its beginning")
    func newZone() async throws {
        let bench = try await bench()
        let page = try await bench.query(plain, limit: 3)
        try await bench.deleteZone("Notes")
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "new"))
        let rest = try await bench.query(plain, after: page.continuationMarker)
        #expect(rest.names == ["new"])
    }

    @Test("Texts are sorted by their first 1,024 scalars, and markers stay short")
    func longTexts() async throws {
        let bench = try await bench()
        let long = String(repeating: "\u{1F30A}", count: 1100)
        try await bench.modify(
            .save(.create, "y", title: long + "1"), .save(.create, "x", title: long + "2")
        )
        let page = try await bench.query(sorted, limit: 5)
        // Equal keys: by when they changed.
        #expect(page.names == ["a", "b", "c", "d", "y"])
        #expect((page.continuationMarker ?? "").utf8.count < 6000)
        #expect(try await bench.query(sorted, after: page.continuationMarker).names == ["x"])
    }
}
