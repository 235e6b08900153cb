// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

@Suite(.hangs) struct DeliveringTests {
    @Test("PUSH-7, PUSH-9: all devices of a user get one notification ID, each event its own")
    func notificationIDs() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            let phone = world.streams.open(
                device: try await world.device("phone", of: anna), after: .start)
            let tablet = world.streams.open(
                device: try await world.device("tablet", of: anna), after: .start)
            try await world.create(["a", "b"], of: anna)

            #expect(try await world.pipeline.drain() == 2)
            let delivered = try await phone.delivered(2)
            #expect(try await tablet.delivered(2) == delivered)
            #expect(delivered.map(\.record) == ["a", "b"])
            let ids = delivered.compactMap(\.notificationID)
            #expect(Set(ids).count == 2)
            for id in ids { #expect(UUID(uuidString: id)?.uuidString.lowercased() == id) }
        }
    }

    @Test("SUB-10, SUB-46, SUB-47, T-10: the origin and other users are not notified")
    func originExcluded() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            try await world.subscribe(anna, .database)
            try await world.subscribe(ben, .database)
            let laptop = world.streams.open(
                device: try await world.device("laptop", of: anna), after: .start)
            let phone = world.streams.open(
                device: try await world.device("phone", of: anna), after: .start)
            let stranger = world.streams.open(
                device: try await world.device("pc", of: ben), after: .start)

            try await world.create(["a"], of: anna, zone: "1", origin: "laptop")
            _ = try await world.pipeline.drain()
            try await world.create(["b"], of: anna, zone: "2", origin: "phone")
            try await world.create(["c"], of: ben, zone: "3")
            _ = try await world.pipeline.drain()

            #expect(try await phone.delivered(1).map(\.zone) == ["1"])
            #expect(try await laptop.delivered(1).map(\.zone) == ["2"])
            #expect(try await stranger.delivered(1).map(\.zone) == ["3"])
        }
    }

    @Test("PUSH-8: a notification is logged even when no device is connected")
    func logged() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, zone: "feed")
            try await world.create(["a"], of: anna)
            #expect(try await world.pipeline.drain() == 1)
            let log = try await world.log(of: anna)
            #expect(try log.map { try DeliveredPayload($0.payload).kind } == ["fet"])
            #expect(log.map(\.createdAt) == [World.noon])
            #expect(log.map(\.isBackground) == [true])
        }
    }

    @Test("SUB-19: a firesOnce subscription is gone after its push")
    func firesOnce() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, id: "once", type: "FeedItem", firesOnce: true)
            try await world.subscribe(anna, .query, id: "always", type: "FeedItem")
            try await world.create(["a"], of: anna, origin: "laptop")
            try await world.create(["b"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()
            try await world.create(["c"], of: anna, origin: "laptop")
            _ = try await world.pipeline.drain()

            let delivered = try await world.log(of: anna).map { try DeliveredPayload($0.payload) }
            #expect(delivered.filter { $0.subscription == "once" }.map(\.record) == ["a"])
            #expect(
                delivered.filter { $0.subscription == "always" }.map(\.record) == ["a", "b", "c"])
            let left = try await world.store.read { reader in
                try reader.subscriptions(nil, of: anna.user.id, in: anna.database)
            }
            #expect(left.map(\.subscription.subscriptionID) == ["always"])
        }
    }

    @Test(
        "SUB-20: firesOnce stays when the only device is the origin, and fires for another's change"
    )
    func firesOnceOrigin() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem", firesOnce: true)
            try await world.create(["own"], of: anna, origin: "phone")
            #expect(try await world.pipeline.drain() == 0)
            try await world.create(["other"], of: anna, origin: "laptop")
            #expect(try await world.pipeline.drain() == 1)
            #expect(
                try await world.log(of: anna).map { try DeliveredPayload($0.payload).record } == [
                    "other"
                ])
        }
    }

    @Test("SUB-19: a firesOnce subscription saved anew before the commit is not taken for the old")
    func firesOnceSavedAnew() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem", firesOnce: true)
            try await world.create(["a"], of: anna)

            let batch = try await world.readBatch()
            var plan = try #require(try world.pipeline.match(batch))
            world.pipeline.coalesce(&plan)
            try await world.subscribe(anna, .query, type: "FeedItem", info: .visual())
            let built = world.pipeline.build(plan, batch)
            _ = try await world.pipeline.commit(built, plan, batch)

            let left = try await world.store.read { reader in
                try reader.subscriptions(nil, of: anna.user.id, in: anna.database)
            }
            #expect(left.map(\.subscription.notificationInfo) == [.visual()])
        }
    }

    @Test("SUB-65: the end of a zone is notified to the subscriptions that ended with it")
    func zoneDeletion() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .zone, id: "zone", zone: "feed", info: .visual())
            try await world.subscribe(
                anna, .query, id: "query", zone: "feed", type: "FeedItem", info: .visual())
            try await world.subscribe(anna, .database, id: "database", info: .visual())
            // The pipeline comes late: the zone goes before its last change is notified.
            try await world.create(["a"], of: anna)
            let ended = try await world.store.write(.everything) { transaction in
                try transaction.removeSubscriptions(onZone: "feed", in: anna.database)
            }
            try await world.change(
                anna, .zoneDeleted(.deleted, subscriptions: ended), origin: nil)
            _ = try await world.pipeline.drain()

            let delivered = try await world.log(of: anna).map { try DeliveredPayload($0.payload) }
            func count(_ id: String) -> Int { delivered.filter { $0.subscription == id }.count }
            #expect(["zone", "query", "database"].map(count) == [2, 1, 2])
            let left = try await world.store.read { reader in
                try reader.subscriptions(nil, of: anna.user.id, in: anna.database)
            }
            #expect(left.map(\.subscription.subscriptionID) == ["database"])
        }
    }

    @Test("PUSH-1, PUSH-2: of many background pushes a device that is away gets the newest")
    func coalescing() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .database)
            for zone in 1...3 { try await world.create(["a"], of: anna, zone: "zone-\(zone)") }
            #expect(try await world.pipeline.drain() == 1)
            try await world.create(["a"], of: anna, zone: "zone-4")
            #expect(try await world.pipeline.drain() == 1)

            let log = try await world.log(of: anna)
            #expect(try log.map { try DeliveredPayload($0.payload).zone } == ["zone-4"])
            let stream = world.streams.open(device: phone, after: phone.acknowledged)
            #expect(try await stream.delivered(1).map(\.zone) == ["zone-4"])
        }
    }

    @Test("PUSH-2: silent query pushes and visual pushes are not merged, in no batch and over none")
    func notMerged() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, id: "q", type: "FeedItem")
            try await world.subscribe(anna, .zone, id: "z", zone: "feed", info: .visual())
            for name in ["a", "b"] {
                try await world.create([name], of: anna)
                _ = try await world.pipeline.drain()
            }
            try await world.create(["c"], of: anna)
            try await world.create(["d"], of: anna)
            _ = try await world.pipeline.drain()
            let delivered = try await world.log(of: anna).map { try DeliveredPayload($0.payload) }
            #expect(delivered.filter { $0.kind == "qry" }.map(\.record) == ["a", "b", "c", "d"])
            #expect(delivered.filter { $0.kind == "fet" }.count == 4)
        }
    }

    @Test("PUSH-13: order for one user and subscription is commit order, over small passes")
    func order() async throws {
        try await World.run({ $0.entriesPerPass = 3 }) { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            let names = (0..<20).map { "item-\($0)" }
            for name in names { try await world.create([name], of: anna) }
            let stream = world.streams.open(device: phone, after: .start)
            #expect(try await world.pipeline.drain() == 20)
            #expect(try await stream.delivered(20).map(\.record) == names)
        }
    }

    @Test("A pass takes no further entry once it has enough notifications, and leaves none out")
    func notificationsPerPass() async throws {
        try await World.run({ $0.notificationsPerPass = 5 }) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            for start in [0, 4, 8, 12] {
                try await world.create((start..<start + 4).map { "item-\($0)" }, of: anna)
            }
            let batch = try await world.readBatch()
            #expect(try world.pipeline.match(batch)?.matches.count == 8)
            try await world.giveBack(batch)
            #expect(try await world.pipeline.drain() == 16)
            let delivered = try await world.log(of: anna).compactMap {
                try DeliveredPayload($0.payload).record
            }
            #expect(delivered == (0..<16).map { "item-\($0)" })
        }
    }

    @Test("SUB-64, T-16: a transaction that fails notifies nobody")
    func rolledBack() async throws {
        try await World.run { world in
            struct Refused: Error {}
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database)
            await #expect(throws: Refused.self) {
                try await world.store.write(.databaseWithID(anna.database)) { transaction in
                    try transaction.appendOutbox([
                        OutboxEntry(
                            database: anna.database, zoneName: "feed",
                            zoneOwner: anna.user.recordName, event: .zoneCreated,
                            originUser: nil, originClient: nil, committedAt: World.noon
                        )
                    ])
                    throw Refused()
                }
            }
            #expect(try await world.pipeline.drain() == 0)
        }
    }

    @Test("A change nobody subscribed to leaves the outbox without a trace")
    func nobodySubscribed() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.create(["a"], of: anna)
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await world.store.read { try $0.outboxes(limit: 10) } == [])
            #expect(try await world.log(of: anna) == [])
        }
    }
}
