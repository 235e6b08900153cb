// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

/// Changes with more subscribers than one pass takes.
@Suite(.hangs) struct PagingTests {
    private func delivered(to person: Person, in world: World) async throws -> [String] {
        try await world.log(of: person).map { notification in
            let delivered = try DeliveredPayload(notification.payload)
            return "\(delivered.subscription ?? "") \(delivered.record ?? "")"
        }
    }

    /// The steps of a pass up to its commit.
    private func pass(_ world: World) async throws -> Int? {
        let batch = try await world.readBatch()
        guard var plan = try world.pipeline.match(batch) else { return nil }
        world.pipeline.coalesce(&plan)
        let built = world.pipeline.build(plan, batch)
        let logged = try await world.pipeline.commit(built, plan, batch)
        try await world.giveBack(batch)
        return logged.notifications.count
    }

    @Test("An entry with many subscribers is processed page by page, each of them once, in order")
    func pages() async throws {
        try await World.run({ $0.notificationsPerPass = 7 }) { world in
            let anna = try await world.person("anna")
            let ids = (0..<30).map { "s\($0)" }
            for id in ids { try await world.subscribe(anna, .query, id: id, type: "FeedItem") }
            try await world.create(["a"], of: anna)
            try await world.create(["b"], of: anna)
            var sizes: [Int] = []
            while let count = try await pass(world) { sizes.append(count) }
            #expect(sizes.allSatisfy { $0 <= 7 })
            #expect(sizes.count > 8)
            // PUSH-13: everybody gets the first change before anybody gets the second.
            #expect(
                try await delivered(to: anna, in: world) == ids.map { "\($0) a" }
                    + ids.map { "\($0) b" }
            )
        }
    }

    @Test("A page ends after the subscription whose records fill it")
    func manyRecords() async throws {
        try await World.run({ $0.notificationsPerPass = 5 }) { world in
            let anna = try await world.person("anna")
            for id in ["s", "t", "u"] {
                try await world.subscribe(anna, .query, id: id, type: "FeedItem")
            }
            try await world.create(["a", "b", "c", "d"], of: anna)
            #expect(try await pass(world) == 8)
            #expect(try await pass(world) == 4)
            #expect(try await pass(world) == nil)
            let expected = ["s", "t", "u"].flatMap { id in
                ["a", "b", "c", "d"].map { "\(id) \($0)" }
            }
            #expect(try await delivered(to: anna, in: world) == expected)
        }
    }

    @Test("PUSH-14: after a crash between two pages the rest is notified, and nobody twice")
    func crash() async throws {
        try await World.run({ $0.notificationsPerPass = 4 }) { world in
            let anna = try await world.person("anna")
            let ids = (0..<10).map { "s\($0)" }
            for id in ids { try await world.subscribe(anna, .query, id: id, type: "FeedItem") }
            try await world.create(["a"], of: anna)
            #expect(try await pass(world) == 4)

            let next = try await world.restarted()
            #expect(try await next.pipeline.drain() == 6)
            #expect(try await delivered(to: anna, in: next) == ids.map { "\($0) a" })
            #expect(try await next.pipeline.drain() == 0)
            try await next.store.close()
        }
    }

    @Test("SUB-19: firesOnce subscriptions on many pages fire once each and go")
    func firesOnce() async throws {
        try await World.run({ $0.notificationsPerPass = 3 }) { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            let ids = (0..<8).map { "s\($0)" }
            for id in ids {
                try await world.subscribe(
                    anna, .query, id: id, type: "FeedItem", firesOnce: true)
            }
            try await world.create(["a", "b"], of: anna)
            try await world.create(["c"], of: anna)
            #expect(try await world.pipeline.drain() == 8)
            #expect(try await delivered(to: anna, in: world) == ids.map { "\($0) a" })
            let left = try await world.store.read { reader in
                try reader.subscriptions(nil, of: anna.user.id, in: anna.database)
            }
            #expect(left == [])
        }
    }

    @Test("What was saved anew between two pages keeps its turn; what was deleted loses it")
    func changesBetweenPages() async throws {
        try await World.run({ $0.notificationsPerPass = 2 }) { world in
            let anna = try await world.person("anna")
            for id in ["a", "b", "c", "d"] {
                try await world.subscribe(anna, .query, id: id, type: "FeedItem")
            }
            try await world.create(["r"], of: anna)
            #expect(try await pass(world) == 2)
            try await world.subscribe(anna, .query, id: "a", type: "FeedItem", info: .visual())
            try await world.subscribe(anna, .query, id: "d", type: "FeedItem", info: .visual())
            try await world.store.write(.everything) { transaction in
                try transaction.removeSubscriptions(["c"], of: anna.user.id, in: anna.database)
            }
            _ = try await world.pipeline.drain()
            #expect(try await delivered(to: anna, in: world) == ["a r", "b r", "d r"])
        }
    }

    @Test("SUB-65: a zone that goes between two pages of its last change takes nobody's push away")
    func zoneGoesBetweenPages() async throws {
        try await World.run({ $0.notificationsPerPass = 2 }) { world in
            let anna = try await world.person("anna")
            let ids = ["a", "b", "c", "d", "e"]
            for id in ids {
                try await world.subscribe(anna, .query, id: id, zone: "feed", type: "FeedItem")
            }
            try await world.create(["r"], of: anna)
            #expect(try await pass(world) == 2)
            let ended = try await world.store.write(.everything) { transaction in
                try transaction.removeSubscriptions(onZone: "feed", in: anna.database)
            }
            try await world.change(anna, .zoneDeleted(.deleted, subscriptions: ended), origin: nil)
            // One that comes back under its ID is notified of later changes only.
            try await world.subscribe(anna, .query, id: "a", zone: "feed", type: "FeedItem")
            _ = try await world.pipeline.drain()
            #expect(try await delivered(to: anna, in: world) == ids.map { "\($0) r" })
        }
    }

    @Test(
        "PUSH-14, SUB-65: what ended with a zone gets the changes before, however many passes")
    func zoneGoesBeforeManyPasses() async throws {
        try await World.run({ $0.entriesPerPass = 1 }) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, id: "a", zone: "feed", type: "FeedItem")
            for name in ["r", "s", "t"] { try await world.create([name], of: anna) }
            let ended = try await world.store.write(.everything) { transaction in
                try transaction.removeSubscriptions(onZone: "feed", in: anna.database)
            }
            try await world.change(anna, .zoneDeleted(.deleted, subscriptions: ended), origin: nil)
            // What comes after the deletion is not for it.
            try await world.create(["u"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await delivered(to: anna, in: world) == ["a r", "a s", "a t"])
        }
    }
}
