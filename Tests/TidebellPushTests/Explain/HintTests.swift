// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite("Explanation where nothing is found", .hangs)
struct HintTests {
    private func hints(
        in world: World, _ ask: (inout PushExplanation.Query) -> Void = { _ in }
    ) async throws -> [String] {
        let explanation = try await world.explained(ask)
        #expect(explanation.changes.isEmpty)
        return explanation.hints
    }

    @Test("An empty cloud is reported as empty")
    func empty() async throws {
        try await World.run { world in
            let found = try await hints(in: world)
            #expect(found == ["Nothing was ever saved in this cloud."])
        }
    }

    @Test("Unknown users, containers, subscriptions and notifications name those that exist")
    func unknown() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.person("ben")
            try await world.subscribe(anna, .database, id: "all")
            #expect(
                try await hints(in: world) { $0.userName = "carl" }
                    == ["There is no user 'carl'. There are: anna, ben."]
            )
            #expect(
                try await hints(in: world) { $0.container = "x" } == [
                    "No such container and environment was used. "
                        + "There are: iCloud.org.example.feed (development)."
                ]
            )
            #expect(
                try await hints(in: world) { $0.subscriptionID = "x" }
                    == ["There is no subscription 'x'. There are: all of anna."]
            )
            let retention =
                "No changes are kept. Changes are kept for a day, unless `tidebell serve` was configured "
                + "otherwise, and only in databases with subscriptions."
            #expect(
                try await hints(in: world) { $0.subscriptionID = "all" } == [
                    "anna has the subscription 'all' (database), but no such change came since.",
                    retention,
                ]
            )
            #expect(
                try await hints(in: world) { $0.notificationID = "x" }
                    == ["No kept change was reported by a notification 'x'.", retention]
            )
            #expect(try await hints(in: world) == ["There is no such change.", retention])
        }
    }

    @Test("SUB-40: a record changed before anybody had a subscription is reported as such")
    func beforeSubscriptions() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.save("n1", of: anna, at: World.noon)
            func why(_ name: String) async throws -> [String] {
                try await hints(in: world) { $0.recordName = name }
            }
            let location =
                "The record n1 (FeedItem) is in zone feed, private database of anna, last changed "
                + "2026-01-01 12:00:00.000Z, but no change of it is kept."
            #expect(
                try await why("n1") == [
                    location,
                    "There are no subscriptions in that database, so its changes send no pushes "
                        + "(SUB-40).",
                ]
            )
            try await world.subscribe(anna, .database)
            try await world.create(["n2"], of: anna)
            #expect(
                try await why("n1") == [
                    location,
                    "When it was made, there were no subscriptions in that database: a change before "
                        + "the first subscription sends no pushes (SUB-40).",
                ]
            )
            #expect(
                try await why("n3") == [
                    "No change of a record 'n3' is kept, and no such record exists.",
                    "Kept changes go back to 2026-01-01 12:00:00.000Z.",
                ]
            )
        }
    }

    @Test("SUB-7: a record of the default zone, where only query subscriptions fire")
    func defaultZone() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database)
            try await world.save("n1", of: anna, zone: ZoneID.defaultName, at: World.noon)
            #expect(
                try await hints(in: world) { $0.recordName = "n1" }.last
                    == "In the default zone only query subscriptions fire, and there are none in "
                    + "that database (SUB-7)."
            )
        }
    }

    @Test("For a record whose change is no longer kept, it is reported how far back kept ones go")
    func retentionPassed() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database)
            try await world.save("n1", of: anna, at: World.noon.advanced(by: .seconds(-1)))
            try await world.create(["n2"], of: anna)
            #expect(
                try await hints(in: world) { $0.recordName = "n1" }.last
                    == "Kept changes go back to 2026-01-01 12:00:00.000Z."
            )
        }
    }
}

extension World {
    /// Stores a record without notifying anybody.
    fileprivate func save(
        _ name: String, of person: Person, zone zoneName: String = "feed", at moment: Instant
    ) async throws {
        try await store.write(.everything) { transaction in
            let position = try transaction.advance(person.database, by: 2, at: moment)
            if zoneName != ZoneID.defaultName {
                _ = try transaction.createZones([(zoneName, position)], in: person.database)
            }
            let zone = try #require(try transaction.zones([zoneName], in: person.database).first)
            let stamp = RecordStamp(
                timestamp: moment.rawValue, userRecordName: person.user.recordName, deviceID: ""
            )
            let record = StoredRecord(
                name: name, type: "FeedItem", position: position.advanced(by: 1), created: stamp,
                modified: stamp, fields: .none
            )
            try transaction.putRecords([record], in: zone.key)
        }
    }
}
