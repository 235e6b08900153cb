// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

/// Query subscriptions with filters, from the outbox to the log.
@Suite(.hangs) struct PredicateTests {
    /// All subscriptions of a database are looked up, or read at once.
    static let readAtOnce = [0, PushConfiguration().subscriptionsReadAtOnce]

    private func change(
        _ name: String, _ event: RecordEvent, tide: String?, modified: Int64 = 0
    ) -> RecordChange {
        let stamp = RecordStamp(timestamp: modified, userRecordName: "_anna", deviceID: "")
        return RecordChange(
            recordName: name, recordType: "FeedItem", event: event,
            fields: RecordFields(tide.map { ["tide": Field(.string($0))] } ?? [:]),
            system: .init(created: stamp, modified: stamp)
        )
    }

    private func delivered(to person: Person, in world: World) async throws -> [String] {
        _ = try await world.pipeline.drain()
        return try await world.log(of: person).map { notification in
            let delivered = try DeliveredPayload(notification.payload)
            return "\(delivered.subscription ?? "") \(delivered.record ?? "")"
        }
    }

    @Test(
        "SUB-23, T-9: each subscription is notified of the records that pass its filters",
        arguments: readAtOnce)
    func filters(readAtOnce: Int) async throws {
        try await World.run({ $0.subscriptionsReadAtOnce = readAtOnce }) { world in
            let anna = try await world.person("anna")
            func watch(_ id: String, _ filters: WireFilter...) async throws {
                try await world.subscribe(
                    anna, .query, id: id, type: "FeedItem", filters: filters)
            }
            try await watch("all")
            try await watch("low", WireFilter(.equals, .field("tide"), .string("Low")))
            try await watch("notLow", WireFilter(.notEquals, .field("tide"), .string("low")))
            try await watch("b", WireFilter(.equals, .system(.recordName), .string("b")))
            try await watch("new", WireFilter(.greaterThan, .system(.modifiedTimestamp), .int64(5)))
            try await watch("never", .nothing)
            try await world.change(
                anna,
                .records([
                    change("a", .created, tide: "low"), change("b", .updated, tide: "high"),
                    change("c", .deleted, tide: nil, modified: 6),
                ]), origin: nil
            )
            #expect(
                try await delivered(to: anna, in: world) == [
                    "all a", "all b", "all c", "low a", "notLow b", "notLow c", "b b", "new c",
                ]
            )
        }
    }

    @Test(
        "SUB-23: what no index finds is counted for each change, and an explanation says why",
        arguments: readAtOnce)
    func unindexed(readAtOnce: Int) async throws {
        try await World.run({ $0.subscriptionsReadAtOnce = readAtOnce }) { world in
            let anna = try await world.person("anna")
            let tide = WireFilter.Subject.field("tide")
            for (id, filters) in [
                ("all", []), ("low", [WireFilter(.equals, tide, .string("low"))]),
                ("not", [WireFilter(.notEquals, tide, .string("low"))]),
                ("other", [WireFilter(.notIn, tide, .list(.stringList, [.string("low")]))]),
            ] {
                try await world.subscribe(anna, .query, id: id, type: "FeedItem", filters: filters)
            }
            for name in ["a", "b"] {
                try await world.change(
                    anna, .records([change(name, .created, tide: "low")]), origin: nil)
            }
            #expect(
                try await delivered(to: anna, in: world) == ["all a", "low a", "all b", "low b"])
            #expect(world.tally.values["tidebell.push.subscriptions.unindexed"] == 4)
            let explained = try await world.explained().changes.first?.subscriptions ?? []
            let notes = Dictionary(
                uniqueKeysWithValues: explained.map { ($0.subscriptionID, $0.unindexed) })
            let why = "no index finds it, so every change of a 'FeedItem' is held against it: "
            #expect(
                notes == [
                    "all": nil, "low": nil, "not": why + "NOT_EQUALS on 'tide' only excludes",
                    "other": why + "NOT_IN on 'tide' only excludes",
                ])
            let lines = try await world.lines()
            #expect(lines.contains("      ! \(why)NOT_IN on 'tide' only excludes"))
        }
    }

    @Test("SUB-19: a firesOnce subscription waits for the record that passes its filters")
    func firesOnce() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(
                anna, .query, id: "once", type: "FeedItem",
                filters: [WireFilter(.equals, .field("tide"), .string("low"))], firesOnce: true
            )
            let changes = [
                change("a", .created, tide: "high"), change("b", .created, tide: "low"),
                change("c", .created, tide: "low"),
            ]
            try await world.change(anna, .records(changes), origin: nil)
            #expect(try await delivered(to: anna, in: world) == ["once b"])
        }
    }

    @Test("A change from before the first query subscription carries nothing to look at")
    func withoutFields() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(
                anna, .query, id: "s", type: "FeedItem",
                filters: [WireFilter(.notEquals, .field("tide"), .string("low"))]
            )
            try await world.create(["a"], of: anna)
            #expect(try await delivered(to: anna, in: world) == [])
        }
    }
}
