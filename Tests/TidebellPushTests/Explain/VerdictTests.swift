// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite("Explanation of what was not notified", .hangs)
struct VerdictTests {
    /// A subscription, a change, and the explanation of the two.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kind: WireSubscription.Kind
        var zone: String?
        var type: String?
        var firesOn: WireSubscription.Events = [.create, .update, .delete]
        var changedZone = "feed"
        var event = OutboxEntry.Event.records([
            RecordChange(recordName: "a", recordType: "FeedItem", event: .created)
        ])
        var line: String
    }

    static let cases = [
        Case(
            testDescription: "SUB-7: the default zone and a database subscription",
            kind: .database, changedZone: ZoneID.defaultName,
            line: "s (database): the default zone never fires zone and database subscriptions "
                + "(SUB-7)"
        ),
        Case(
            testDescription: "SUB-9: a zone subscription on another zone",
            kind: .zone, zone: "other", line: "s (zone other): it watches the zone other (SUB-9)"
        ),
        Case(
            testDescription: "SUB-9: a query subscription limited to another zone",
            kind: .query, zone: "other", type: "FeedItem",
            line: "s (query FeedItem in zone other): it watches the zone other (SUB-9)"
        ),
        Case(
            testDescription: "SUB-13: another record type",
            kind: .zone, zone: "feed", type: "Task",
            line: "s (zone feed of type Task): the record is a FeedItem, it watches Task (SUB-13)"
        ),
        Case(
            testDescription: "SUB-17: an event that was not asked for",
            kind: .query, type: "FeedItem", firesOn: [.update, .delete],
            line: "s (query FeedItem on update, delete): it does not fire on records being created "
                + "(SUB-17)"
        ),
        Case(
            testDescription: "SUB-23: a query subscription and the end of a zone",
            kind: .query, type: "FeedItem", event: .zoneDeleted(.deleted, subscriptions: []),
            line: "s (query FeedItem): it reports records, not the zone itself (SUB-23)"
        ),
        Case(
            testDescription: "SUB-53: a zone subscription and a zone that begins",
            kind: .zone, zone: "feed", event: .zoneCreated,
            line: "s (zone feed): it does not report zones that begin (SUB-53)"
        ),
    ]

    @Test("The rule that left a subscription alone is named", arguments: cases)
    func rule(example: Case) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let subscription = WireSubscription(
                subscriptionID: "s", kind: example.kind,
                zoneID: example.zone.map { ZoneID(zoneName: $0) }, recordType: example.type,
                firesOn: example.kind == .query ? example.firesOn : [],
                notificationInfo: WireNotificationInfo()
            )
            let stored = StoredSubscription(
                database: anna.database, user: anna.user.id, subscription: subscription
            )
            try await world.store.write(.everything) { try $0.putSubscriptions([stored]) }
            try await world.change(
                anna, zone: example.changedZone, example.event, origin: "phone"
            )
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await world.lines() == ["  ✗ " + example.line])
        }
    }

    @Test("A change of many records names the reason about the record asked for")
    func manyRecords() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, id: "q", type: "Task")
            let changes = [("a", "FeedItem"), ("b", "Task"), ("c", "Task"), ("d", "Task")].map {
                RecordChange(recordName: $0.0, recordType: $0.1, event: .updated)
            }
            try await world.change(anna, .records(changes), origin: nil)
            _ = try await world.pipeline.drain()
            let whole = try await world.text()
            #expect(
                whole.contains(
                    "records a (FeedItem) updated, b (Task) updated, c (Task) updated and 1 more in zone feed"
                ))
            #expect(whole.split(separator: "\n").count { $0.contains("→ ID for ") } == 3)
            let a = try await world.lines { $0.recordName = "a" }
            #expect(a == ["  ✗ q (query Task): the record is a FeedItem, it watches Task (SUB-13)"])
            let c = try await world.lines { $0.recordName = "c" }
            #expect(c.first == "  ✓ q (query Task): the record was updated and matches (SUB-24)")
            #expect(c.count { $0.contains("→ ID for c") } == 1)
            #expect(try await world.explained { $0.recordType = "Note" }.changes.isEmpty)
        }
    }

    @Test("What is asked for narrows the changes: zone, database, container, number")
    func narrowing() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database, id: "all")
            for zone in ["1", "2", "3", "2"] { try await world.create(["a"], of: anna, zone: zone) }
            func ids(
                _ ask: (inout PushExplanation.Query) -> Void = { _ in }
            ) async throws -> [Int] {
                try await world.numbers(of: world.explained(ask))
            }
            #expect(try await ids() == [4, 3, 2])
            #expect(try await ids { $0.last = 1 } == [4])
            #expect(try await ids { $0.last = 100 } == [4, 3, 2, 1])
            #expect(try await ids { $0.zoneName = "2" } == [4, 2])
            #expect(try await ids { $0.scope = .public } == [])
            #expect(try await ids { $0.environment = .production } == [])
            #expect(try await ids { $0.subscriptionID = "none" } == [])
            #expect(try await ids { $0.subscriptionID = "all" } == [4, 3, 2])
        }
    }
}

extension VerdictTests {
    /// A predicate, a record, and the explanation of the two.
    struct FilterCase: Sendable, CustomTestStringConvertible {
        var filters: [WireFilter]
        var fields: [String: Field]
        var line: String
        var testDescription: String { line }
    }

    static let draft = WireFilter(.equals, .field("state"), .string("draft"))

    static let filterCases = [
        FilterCase(
            filters: [draft], fields: ["state": Field(.string("final"))],
            line: "where state = \"draft\"): it asks for state = \"draft\", and the record has "
                + "\"final\" (SUB-24)"
        ),
        FilterCase(
            filters: [
                draft, WireFilter(.greaterThan, .field("size"), .int64(7)),
            ],
            fields: ["state": Field(.string("draft")), "size": Field(.double(6.5))],
            line: "where state = \"draft\" and size > 7): it asks for size > 7, and the record has "
                + "6.5 (SUB-24)"
        ),
        FilterCase(
            filters: [draft], fields: ["other": Field(.string("x"))],
            line: "where state = \"draft\"): it asks for state = \"draft\", and the record has no "
                + "readable state (SUB-24)"
        ),
        FilterCase(
            filters: [WireFilter(.containsAllTokens, .allText, .string("sun"))],
            fields: ["text": Field(.string("rain"))],
            line: "where any text contains all tokens \"sun\"): it asks for any text contains all "
                + "tokens \"sun\", which no text of the record has (SUB-24)"
        ),
        FilterCase(
            filters: [
                WireFilter(
                    .in, .field("n"),
                    .list(.int64List, [.int64(1), .int64(2), .int64(3), .int64(4)])
                )
            ],
            fields: ["n": Field(.int64(5))],
            line: "where n in {1, 2, 3, …}): it asks for n in {1, 2, 3, …}, and the record has 5 "
                + "(SUB-24)"
        ),
    ]

    @Test(
        "SUB-24: the first filter that fails is named, with what the record has",
        arguments: filterCases)
    func filter(example: FilterCase) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, asking: example.filters)
            try await world.save(example.fields, of: anna)
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await world.lines() == ["  ✗ q (query FeedItem " + example.line])
        }
    }

    @Test("SUB-24: fields too large to be kept leave the reason open, not what was sent")
    func shortened() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, asking: [Self.draft])
            let text = Field(.string(String(repeating: "x", count: 10_000)))
            try await world.save(["state": Field(.string("final")), "text": text], of: anna)
            try await world.save(["state": Field(.string("draft")), "text": text], of: anna)
            #expect(try await world.pipeline.drain() == 1)
            let titles = try await world.lines().filter { $0.contains("query FeedItem") }
            let summary = "q (query FeedItem where state = \"draft\")"
            let reason = "the record's fields were too large to be kept for an explanation"
            #expect(
                titles == [
                    "  ✓ \(summary): the record was updated and matched (SUB-24)",
                    "  ✗ \(summary): \(reason)",
                ])
        }
    }

    @Test("SUB-40: a change from before the first query subscription has no fields to match")
    func withoutFields() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.create(["a"], of: anna)
            try await world.subscribe(anna, asking: [Self.draft])
            #expect(try await world.pipeline.drain() == 0)
            #expect(
                try await world.lines() == [
                    "  ✗ q (query FeedItem where state = \"draft\"): there was no query subscription "
                        + "when the change was made, so its fields were not kept for explanations (SUB-40)"
                ]
            )
        }
    }
}

extension World {
    /// Saves a query subscription with a predicate.
    fileprivate func subscribe(_ person: Person, asking filters: [WireFilter]) async throws {
        var subscription = WireSubscription(
            subscriptionID: "q", kind: .query, recordType: "FeedItem",
            firesOn: [.create, .update, .delete], notificationInfo: WireNotificationInfo()
        )
        subscription.filters = filters
        let stored = StoredSubscription(
            database: person.database, user: person.user.id, subscription: subscription
        )
        _ = try await store.write(.everything) { try $0.putSubscriptions([stored]) }
    }

    /// Commits the update of a record.
    fileprivate func save(_ fields: [String: Field], of person: Person) async throws {
        let stamp = RecordStamp(timestamp: 0, userRecordName: "_anna", deviceID: "")
        let change = RecordChange(
            recordName: "a", recordType: "FeedItem", event: .updated,
            fields: RecordFields(fields),
            system: RecordChange.SystemValues(created: stamp, modified: stamp)
        )
        try await self.change(person, .records([change]), origin: nil)
    }
}
