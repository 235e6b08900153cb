// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Development begins anew")
struct SchemaResetTests {
    private static let name = Bench.container.container
    private static let now = Instant(rawValue: 2_000_000)

    private let bench: Bench
    private let schemas: Schemas

    init() async throws {
        bench = try await Bench()
        schemas = Schemas(store: bench.store)
    }

    @discardableResult
    private func reset(
        after last: DatabaseID? = nil, mostSteps: Int = .max
    ) async throws -> ResetSchema.Outcome {
        try await schemas.reset(Self.name, after: last, mostSteps: mostSteps, at: Self.now)
    }

    private func save(_ name: String, zone: String, _ call: Call) async throws {
        let results = try await bench.modify(
            .save(.create, name, title: "tide"), zone: zone, call: call)
        #expect(results.compactMap(\.error).isEmpty)
    }

    /// The names of the records that a query of all zones finds.
    private func found(_ call: Call) async throws -> [String] {
        let request = QueryRecords.Request(
            query: WireQuery(recordType: "Note"), zoneWide: call.scope != .public)
        let page = try await bench.store.read { try QueryRecords.run(request, for: call, in: $0) }
        return page.records.compactMap(\.record?.recordName)
    }

    /// What a fetch of the zone's changes fails with.
    private func error(since token: String) async throws -> WireError? {
        guard case .failed(_, let error) = try await bench.changes(since: token) else { return nil }
        return error
    }

    @Test("ENV-8: a reset gives development production's schema, and removes all of its data")
    func everything() async throws {
        try await save("p", zone: "_defaultZone", bench.call(scope: .public))
        _ = try await schemas.deploy(Self.name, by: "anna", at: Self.now)
        for user in [bench.anna, bench.otto] {
            try await bench.makeZone("Notes", bench.call(user))
            try await save("a", zone: "Notes", bench.call(user))
            try await save("b", zone: "_defaultZone", bench.call(user))
        }
        _ = try await bench.modify(
            .save(.create, "c", fields: ["size": Field(.int64(1))]), call: bench.call())
        var expected = ResetSchema.Outcome()
        expected.changes = [.removeField("size", of: "Note", StoredField(.int64))]
        (expected.zones, expected.records) = (2, 6)
        #expect(try await reset() == expected)

        for user in [bench.anna, bench.otto] {
            #expect(try await found(bench.call(user)) == [])
            let error = await #expect(throws: WireError.self) {
                _ = try await bench.lookup("a", call: bench.call(user))
            }
            #expect(error?.code == .zoneNotFound)
        }
        #expect(try await found(bench.call(scope: .public)) == [])
        let use = try await bench.store.read { try $0.storageUses() }
        #expect(use.allSatisfy { $0.use == .zero })
        // It takes records as on the first day.
        try await save("b", zone: "_defaultZone", bench.call())
        #expect(try await found(bench.call()) == ["b"])
    }

    @Test("ENV-9: every token of development expires with a reset, and a fetch from none goes on")
    func tokens() async throws {
        try await bench.makeZone("Notes")
        try await save("a", zone: "Notes", bench.call())
        let token = try await bench.databaseChanges().syncToken
        // What is up to date expires as well.
        let ofShared = try bench.call(scope: .shared).database().key
        try await bench.store.write(.database(ofShared)) {
            let database = try $0.makeDatabase(ofShared)
            _ = try $0.advance(database.id, by: 1, at: Instant(rawValue: 1))
        }
        let shared = try await bench.databaseChanges(call: bench.call(scope: .shared)).syncToken
        guard case .changes(let page) = try await bench.changes() else {
            Issue.record("the zone has no changes")
            return
        }
        let ofZone = page.syncToken
        try await reset()
        for (token, call) in [
            (token, bench.call()), (shared, bench.call(scope: .shared)),
        ] {
            let error = await #expect(throws: WireError.self) {
                _ = try await bench.databaseChanges(since: token, call: call)
            }
            #expect(error?.ckErrorCode == CKErrorCode.changeTokenExpired)
        }
        #expect(try await error(since: ofZone)?.code == .zoneNotFound)
        let fresh = try await bench.databaseChanges()
        #expect(fresh.zones.isEmpty && !fresh.moreComing)
        // A zone of the same name is another one.
        try await bench.makeZone("Notes")
        #expect(
            try await error(since: ofZone)?.ckErrorCode == CKErrorCode.changeTokenExpired)
        #expect(try await bench.databaseChanges(since: fresh.syncToken).zones.count == 1)
    }

    @Test(
        "ENV-8, ENV-9: a reset removes records, and tokens expire, where the last change was a zone whose trace is gone"
    )
    func removedTrace() async throws {
        try await save("a", zone: "_defaultZone", bench.call())
        _ = try await schemas.deploy(Self.name, by: "anna", at: Self.now)
        try await bench.makeZone("Temp")
        try await bench.deleteZone("Temp")
        let token = try await bench.databaseChanges().syncToken
        let later = bench.call().now
        let removed = try await bench.store.write(.everything) {
            try $0.removeTombstones(modifiedBefore: later, limit: 100)
        }
        #expect(removed == 1)
        var expected = ResetSchema.Outcome()
        expected.records = 1
        #expect(try await reset() == expected)
        #expect(try await found(bench.call()) == [])
        let error = await #expect(throws: WireError.self) {
            _ = try await bench.databaseChanges(since: token)
        }
        #expect(error?.ckErrorCode == CKErrorCode.changeTokenExpired)
        let fresh = try await bench.databaseChanges().syncToken
        #expect(try await reset() == ResetSchema.Outcome())
        #expect(try await bench.databaseChanges(since: fresh).zones == [])
    }

    @Test("ENV-2, ENV-8: production, and other containers, keep what they have")
    func others() async throws {
        let production = ContainerKey(container: Self.name, environment: .production)
        let other = ContainerKey(container: "iCloud.org.tidebell.other", environment: .development)
        try await save("a", zone: "_defaultZone", bench.call())
        _ = try await schemas.deploy(Self.name, by: "anna", at: Self.now)
        var calls: [Call] = []
        for container in [production, other] {
            let user = try await bench.store.write(.everything) {
                try $0.makeUser(
                    of: bench.anna.account, in: container,
                    recordName: "_" + String(repeating: "c", count: 32),
                    at: Instant(rawValue: 0))
            }
            let call = bench.call(user, container: container)
            try await bench.makeZone("Notes", call)
            try await save("kept", zone: "Notes", call)
            calls.append(call)
        }
        let tokens = [
            try await bench.databaseChanges(call: calls[0]).syncToken,
            try await bench.databaseChanges(call: calls[1]).syncToken,
        ]
        #expect(try await reset().records == 1)
        for (call, token) in zip(calls, tokens) {
            #expect(try await found(call) == ["kept"])
            #expect(try await bench.databaseChanges(since: token, call: call).zones.isEmpty)
        }
    }

    @Test("ENV-8: a large reset goes in bounded steps, goes on where it stood, and can be repeated")
    func steps() async throws {
        let names = (0..<250).map { "Z\($0)" }
        for user in [bench.anna, bench.otto] {
            let call = bench.call(user)
            try await bench.store.write(try .database(of: call)) {
                _ = try ModifyZones.run(
                    .init(operations: names.map { .create(ZoneID(zoneName: $0)) }), for: call,
                    in: $0)
            }
        }
        var (last, zones, rounds) = (DatabaseID?.none, [Int](), 0)
        repeat {
            let outcome = try await reset(after: last, mostSteps: 2)
            zones.append(outcome.zones)
            (last, rounds) = (outcome.next, rounds + 1)
            // Others write between two requests; what they write in a database that is done stays.
            if rounds == 2 { try await bench.makeZone("New", bench.call(bench.anna)) }
        } while last != nil && rounds < 9
        #expect(zones == [200, 150, 150])
        let key = try bench.call().database().key
        let left = try await bench.store.read { reader in
            try reader.database(key).map { try reader.zones(nil, in: $0.id).map(\.name) }
        }
        #expect(left == ["New", "_defaultZone"])
        // Once more: what is there now goes, and what is empty costs nothing.
        #expect(try await reset().zones == 1)
        #expect(try await reset() == ResetSchema.Outcome())
    }

    @Test("SUB-26, ENV-8: a reset names the subscriptions that it silences, once")
    func silenced() async throws {
        _ = try await schemas.import(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);", into: Self.name)
        for user in [bench.anna, bench.otto] {
            var subscription = WireSubscription(
                subscriptionID: "s", kind: .query, recordType: "Note", firesOn: [.create],
                notificationInfo: WireNotificationInfo())
            subscription.filters = [WireFilter(.equals, .field("title"), .string("x"))]
            #expect(try await bench.subscribe(subscription, bench.call(user)).error == nil)
        }
        var expected = ResetSchema.Outcome()
        expected.changes = [.removeType("Note")]
        expected.silenced = [
            "the 2 subscriptions Note: title == %@ without the record type Note"
        ]
        #expect(try await reset() == expected)
        #expect(
            expected.warnings == [
                "no longer fires: the 2 subscriptions Note: title == %@ without the record type Note"
            ])
        #expect(try await reset() == ResetSchema.Outcome())
    }

    @Test("ENV-8, SUB-65: who watches is notified of zones that went; other subscriptions stay")
    func subscriptions() async throws {
        try await bench.makeZone("Notes")
        for subscription in [
            WireSubscription(
                subscriptionID: "all", kind: .database,
                notificationInfo: WireNotificationInfo()),
            WireSubscription(
                subscriptionID: "zone", kind: .zone, zoneID: ZoneID(zoneName: "Notes"),
                notificationInfo: WireNotificationInfo()),
            WireSubscription(
                subscriptionID: "query", kind: .query, recordType: "Note", firesOn: [.create],
                notificationInfo: WireNotificationInfo()),
        ] {
            #expect(try await bench.subscribe(subscription).error == nil)
        }
        try await reset()
        let entries = try await bench.outbox()
        let gone = entries.compactMap { entry -> [String]? in
            guard case .zoneDeleted(.deleted, let ended) = entry.event else { return nil }
            return [entry.zoneName] + ended.map { $0.subscription.subscriptionID }
        }
        #expect(gone == [["Notes", "zone"]])
        #expect(entries.allSatisfy { $0.originClient == nil || $0.zoneName != "Notes" })
        let left = try await bench.store.read { reader in
            let database = try #require(try reader.database(bench.call().database().key))
            return try reader.subscriptionIDs(of: bench.anna.id, in: database.id).map(\.text)
        }
        #expect(left == ["all", "query"])
    }
}
