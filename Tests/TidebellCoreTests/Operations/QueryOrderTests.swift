// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("records/query: order and pages")
struct QueryOrderTests {
    private let notes = WireQuery(recordType: "Note", sorts: [.byName])

    private func bench(_ operations: [ModifyRecords.Operation]) async throws -> Bench {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for operation in operations { try await bench.modify(operation) }
        return bench
    }

    @Test("QUERY-1: sort keys count in their order; a missing value stands first, last descending")
    func order() async throws {
        let bench = try await bench([
            .save(.create, "a", title: "two", fields: ["n": Field(.int64(1))]),
            .save(.create, "b", title: "One", fields: ["n": Field(.int64(10))]),
            .save(.create, "c", title: "one", fields: ["n": Field(.int64(9))]),
            .save(.create, "d", title: "three"),
            .save(.create, "e", fields: ["n": Field(.int64(9))]),
        ])
        let (title, number) = (WireFilter.Subject.field("title"), WireFilter.Subject.field("n"))
        #expect(
            try await bench.names(by: [WireSort(title), WireSort(number)])
                == ["e", "c", "b", "d", "a"]
        )
        #expect(
            try await bench.names(by: [WireSort(number, ascending: false), WireSort(title)])
                == ["b", "e", "c", "a", "d"]
        )
        // Equal keys: by when they changed, in the direction of the first sort key.
        #expect(
            try await bench.names(by: [WireSort(title, ascending: false)])
                == ["a", "d", "c", "b", "e"]
        )
    }

    @Test("QUERY-9: locations are sorted by distance; a record without one is the farthest")
    func distances() async throws {
        func at(_ latitude: Double, _ longitude: Double) -> [String: Field?] {
            ["place": Field(.location(WireLocation(latitude: latitude, longitude: longitude)))]
        }
        let bench = try await bench([
            .save(.create, "far", fields: at(10, 10)), .save(.create, "none"),
            .save(.create, "near", fields: at(54, 10.1)),
            .save(.create, "beyond", fields: at(54, -179)),
        ])
        let kiel = WireLocation(latitude: 54.3, longitude: 10.1)
        let nearest = WireSort(.field("place"), relativeLocation: kiel)
        #expect(try await bench.names(by: [nearest]) == ["near", "far", "beyond", "none"])
        let farthest = WireSort(.field("place"), ascending: false, relativeLocation: kiel)
        #expect(try await bench.names(by: [farthest]) == ["none", "beyond", "far", "near"])
    }

    @Test("QUERY-14: what has no order is refused as a sort key, naming the field")
    func unsortable() async throws {
        let bench = try await bench([
            .save(
                .create, "a", title: "x",
                fields: [
                    "raw": Field(.bytes([1])), "tags": Field(.list(.stringList, [.string("x")])),
                    "place": Field(.location(WireLocation(latitude: 1, longitude: 1))),
                    "secret": Field(.string("x"), isEncrypted: true),
                ])
        ])
        let here = WireLocation(latitude: 1, longitude: 1)
        let nowhere = WireLocation(latitude: 91, longitude: 1)
        let cases: [(WireSort, String)] = [
            (
                WireSort(.field("raw")),
                "'raw': Field 'raw' is not marked sortable: BYTES fields have no order"
            ),
            (
                WireSort(.field("tags")),
                "'tags': Field 'tags' is not marked sortable: STRING_LIST fields have no order"
            ),
            (
                WireSort(.system(.createdUserRecordName)),
                "'createdUserRecordName': Field '___createdBy' is not marked sortable: "
                    + "REFERENCE fields have no order"
            ),
            (
                WireSort(.field("place")),
                "'place': a LOCATION field is sorted by its distance from a relativeLocation"
            ),
            (
                WireSort(.field("title"), relativeLocation: here),
                "'title': only LOCATION fields are sorted by distance"
            ),
            (
                WireSort(.field("place"), relativeLocation: nowhere),
                "'place': the relativeLocation lies outside latitude -90...90, "
                    + "longitude -180...180"
            ),
            (WireSort(.field("secret")), "'secret': encrypted fields cannot be queried"),
        ]
        for (sort, reason) in cases {
            let query = WireQuery(recordType: "Note", sorts: [sort])
            #expect(
                try await bench.error(of: query) == .badRequest("query: sortBy[0] on " + reason))
        }
        let many = WireQuery(recordType: "Note", sorts: Array(repeating: .byName, count: 9))
        #expect(
            try await bench.error(of: many)
                == .badRequest("query: 9 sort keys; at most 8 are allowed")
        )
    }

    @Test(
        "QUERY-16: a page holds as many as asked for, 200 at most; a marker means that more exist")
    func pages() async throws {
        let bench = try await bench([])
        for batch in 0..<3 {
            let operations = (0..<100).map {
                ModifyRecords.Operation.save(.create, "\(batch)-\($0 + 100)")
            }
            let request = ModifyRecords.Request(
                zoneID: ZoneID(zoneName: "Notes"), operations: operations)
            let call = bench.call()
            _ = try await bench.store.write(.everything) {
                try ModifyRecords.run(request, for: call, in: $0)
            }
        }
        for query in [notes, WireQuery(recordType: "Note")] {
            for limit in [nil, 0, 1000] {
                let page = try await bench.query(query, limit: limit)
                #expect(page.records.count == 200)
                let rest = try await bench.query(query, after: page.continuationMarker)
                #expect(rest.records.count == 100)
                #expect(rest.continuationMarker == nil)
                #expect(Set(page.names + rest.names).count == 300)
            }
            #expect(try await bench.query(query, limit: 7).records.count == 7)
        }
    }

    @Test("A page ends when its records take too many bytes")
    func pageBytes() async throws {
        let long = String(repeating: "x", count: 1000)
        let bench = try await bench((1...5).map { .save(.create, "\($0)", title: long) })
        var limits = Limits()
        limits.pageBytes = 1500
        for query in [notes, WireQuery(recordType: "Note")] {
            let first = try await bench.query(query, call: bench.call(limits: limits))
            #expect(first.names == ["1", "2"])
            let second = try await bench.query(
                query, after: first.continuationMarker, call: bench.call(limits: limits))
            #expect(second.names == ["3", "4"])
            let third = try await bench.query(
                query, after: second.continuationMarker, call: bench.call(limits: limits))
            #expect(third.names == ["5"])
            #expect(third.continuationMarker == nil)
        }
    }

    @Test("QUERY-16: a page that had to look at too much is short, and the next one goes on")
    func scanBound() async throws {
        let bench = try await bench((1...7).map { .save(.create, "\($0)", title: "\($0 / 6)") })
        var limits = Limits()
        limits.queryScan.records = 3
        let query = WireQuery(
            recordType: "Note", filters: [WireFilter(.equals, .field("title"), .string("1"))])
        var (pages, marker) = ([[String]](), String?.none)
        repeat {
            let page = try await bench.query(
                query, after: marker, call: bench.call(limits: limits))
            pages.append(page.names)
            marker = page.continuationMarker
        } while marker != nil
        #expect(pages == [[], ["6"], ["7"]])
        limits.queryScan.bytes = 1
        let page = try await bench.query(query, call: bench.call(limits: limits))
        #expect(page.names == [])
        #expect(page.continuationMarker != nil)
    }

    @Test("A sorted query that would have to look at too much is refused, with that reason")
    func sortBound() async throws {
        let bench = try await bench((1...4).map { .save(.create, "\($0)") })
        var limits = Limits()
        limits.querySort.records = 3
        let error = try await bench.error(of: notes, call: bench.call(limits: limits))
        #expect(error?.detail?.ckCode == CKErrorCode.limitExceeded)
        #expect(error?.reason.hasPrefix("sorting takes more than the 3 records") == true)
    }
}
