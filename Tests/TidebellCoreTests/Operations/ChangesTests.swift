// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

struct ChangesTests {
    @Test("TOK-6, TOK-14 to TOK-16: each record once, in its latest state, oldest change first")
    func eachRecordOnce() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(
            .save(.create, "a", title: "1"), .save(.create, "b", title: "1"),
            .save(.create, "gone", title: "1")
        )
        try await bench.modify(.forceDelete("gone"))
        let first = try #require(try await bench.changes().page)
        #expect(first.records.map(\.summary) == ["a=1", "b=1"])
        #expect(!first.moreComing)

        try await bench.modify(.save(.forceUpdate, "a", title: "2"))
        try await bench.modify(.save(.create, "brief"), .save(.create, "again", title: "1"))
        try await bench.modify(.forceDelete("brief"), .forceDelete("b"))
        try await bench.modify(.forceDelete("again"))
        try await bench.modify(.save(.create, "again", title: "2"))
        try await bench.modify(.save(.forceUpdate, "a", title: "3"))
        let second = try #require(try await bench.changes(since: first.syncToken).page)
        #expect(
            second.records.map(\.summary)
                == ["deleted brief Note", "deleted b Note", "again=2", "a=3"]
        )
        let third = try #require(try await bench.changes(since: second.syncToken).page)
        #expect(third.records == [])
    }

    @Test("TOK-6: what is deleted while a first fetch is under way is listed, what was gone is not")
    func firstFetchInPages() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for name in ["a", "b", "c", "old"] { try await bench.modify(.save(.create, name)) }
        try await bench.modify(.forceDelete("old"))
        let options = FetchZoneChanges.Options(resultsLimit: 2)
        let first = try #require(try await bench.changes(options: options).page)
        #expect(first.records.map(\.summary) == ["a", "b"])
        #expect(first.moreComing)
        try await bench.modify(.forceDelete("a"))
        let rest = try #require(try await bench.changes(since: first.syncToken).page)
        #expect(rest.records.map(\.summary) == ["c", "deleted a Note"])
        #expect(!rest.moreComing)
    }

    @Test("TOK-13: desiredKeys nil is all, empty is none, system fields always come")
    func desiredKeys() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "1", fields: ["n": Field(.int64(1))]))
        for (keys, expected) in [(nil, ["n", "title"]), ([], []), (["n"], ["n"])]
            as [([String]?, [String])]
        {
            let page = try #require(
                try await bench.changes(options: .init(desiredKeys: keys)).page
            )
            let record = try #require(page.records.first?.record)
            #expect(try record.fields.decoded().keys.sorted() == expected)
            #expect(record.recordType == "Note")
        }
    }

    @Test("TOK-7, SUB-7: database changes name each custom zone once, never the default zone")
    func databaseChanges() async throws {
        let bench = try await Bench()
        try await bench.makeZone("A")
        try await bench.makeZone("B")
        try await bench.modify(.save(.create, "x"), zone: "_defaultZone")
        let first = try await bench.databaseChanges()
        #expect(first.zones.map(\.name) == ["A", "B"])
        try await bench.modify(.save(.create, "x"), zone: "A")
        try await bench.modify(.save(.create, "y"), zone: "A")
        try await bench.deleteZone("B")
        let second = try await bench.databaseChanges(since: first.syncToken)
        #expect(second.zones.map(\.name) == ["A", "deleted B"])
        #expect(try await bench.databaseChanges(since: second.syncToken).zones == [])
        #expect(try await bench.databaseChanges().zones.map(\.name) == ["A"])
    }

    @Test("TOK-12: pages of zones go on where the one before ended")
    func databaseChangesInPages() async throws {
        let bench = try await Bench()
        for name in ["A", "B", "C"] { try await bench.makeZone(name) }
        let first = try await bench.databaseChanges(limit: 2)
        #expect(first.moreComing)
        let second = try await bench.databaseChanges(since: first.syncToken, limit: 2)
        #expect((first.zones + second.zones).map(\.name) == ["A", "B", "C"])
        #expect(!second.moreComing)
    }

    @Test("TOK-2, TOK-3, T-17: tokens of another family, zone, user or container are refused")
    func foreignTokens() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.makeZone("Other")
        try await bench.makeZone("Notes", bench.call(bench.otto))
        let zoneToken = try #require(try await bench.changes().page).syncToken
        let otherToken = try #require(try await bench.changes(zone: "Other").page).syncToken
        let databaseToken = try await bench.databaseChanges().syncToken
        for token in [otherToken, databaseToken, "garbage", ""] {
            let error = try await bench.changes(since: token).error
            #expect(error?.code == .badRequest)
            #expect(error?.ckErrorCode == 21, "token \(token)")
            #expect(
                error?.reason.hasPrefix("client knowledge differs from server knowledge") == true
            )
        }
        let stranger = try await bench.changes(since: zoneToken, call: bench.call(bench.otto))
        #expect(stranger.error?.ckErrorCode == 21)
        let production = ContainerKey(
            container: Bench.container.container, environment: .production
        )
        await #expect(throws: WireError.self) {
            try await bench.databaseChanges(
                since: databaseToken, call: bench.call(container: production)
            )
        }
        #expect(try await bench.changes(since: zoneToken).page != nil)
    }

    @Test(
        "TOK-3: tokens that devices hold stay good: what knows a database never changes",
        arguments: [
            (
                DatabaseScope.private,
                "AQH9215mXoG6ZgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE5-ATk"
            ),
            (.shared, "AQGBTWKlufmufAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAApuuk"),
        ]
    )
    func tokensOfEarlierVersions(scope: DatabaseScope, token: String) async throws {
        let bench = try await Bench()
        var call = bench.call(scope: scope)
        call.storeIdentity = 0x0123_4567_89AB_CDEF
        call.user = StoredUser(
            id: UserID(rawValue: 1), account: bench.anna.account, container: Bench.container,
            recordName: bench.anna.recordName
        )
        // Earlier versions wrote them in the other alphabet of base64, without padding.
        let common = token.replacing("-", with: "+").replacing("_", with: "/") + "="
        #expect(try await bench.databaseChanges(call: call).syncToken == common)
        for token in [token, common] {
            #expect(try await bench.databaseChanges(since: token, call: call).zones == [])
        }
    }

    @Test("TOK-22, TOK-23: a zone deleted is not found; made again, its old tokens expired")
    func recreatedZones() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        let token = try #require(try await bench.changes().page).syncToken
        try await bench.deleteZone("Notes")
        #expect(try await bench.changes(since: token).error?.code == .zoneNotFound)
        try await bench.makeZone("Notes")
        #expect(try await bench.changes(since: token).error?.ckErrorCode == 21)
        #expect(try await bench.changes().page?.records == [])
    }

    @Test("TOK-22: tokens from before the kept tombstones expire, a newer one does not")
    func expiredTokens() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        let old = try #require(try await bench.changes().page).syncToken
        try await bench.modify(.forceDelete("a"))
        let new = try #require(try await bench.changes().page).syncToken
        let later = bench.call().now
        _ = try await bench.store.write(.everything) {
            try $0.removeTombstones(modifiedBefore: later, limit: 100)
        }
        #expect(try await bench.changes(since: old).error?.ckErrorCode == 21)
        #expect(try await bench.changes(since: new).page?.records == [])
    }

    @Test("TOK-4, TOK-5: neither the public database nor a default zone tracks changes")
    func noTracking() async throws {
        let bench = try await Bench()
        let error = try await bench.changes(zone: "_defaultZone").error
        #expect(error == WireError(.badRequest, "cannot get changes in default zone"))
        await #expect(
            throws: WireError(.badRequest, "the public database does not track changes")
        ) {
            try await bench.databaseChanges(call: bench.call(scope: .public))
        }
    }

    @Test("web-services 5.6: reverse pages from the newest change to the oldest")
    func reverse() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        for name in ["a", "b", "c"] { try await bench.modify(.save(.create, name)) }
        let options = FetchZoneChanges.Options(resultsLimit: 2, reverse: true)
        let first = try #require(try await bench.changes(options: options).page)
        let second = try #require(
            try await bench.changes(since: first.syncToken, options: options).page
        )
        #expect(first.records.map(\.summary) == ["c", "b"])
        #expect(first.moreComing)
        #expect(second.records.map(\.summary) == ["a"])
        #expect(!second.moreComing)
    }
}

extension ZoneResult {
    fileprivate var name: String {
        switch self {
        case .zone(let zone): zone.zoneID.zoneName
        case .deleted(let zoneID, _): "deleted \(zoneID.zoneName)"
        case .failed(let zoneID, let error): "\(zoneID.zoneName) \(error.code.rawValue)"
        }
    }
}
