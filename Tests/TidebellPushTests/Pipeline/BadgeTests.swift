// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

@Suite(.hangs) struct BadgeTests {
    private static func info(
        _ set: (inout WireNotificationInfo) -> Void = { _ in }
    ) -> WireNotificationInfo {
        var info = WireNotificationInfo()
        info.shouldBadge = true
        set(&info)
        return info
    }

    @Test("NINFO-11: two notifications of one pass have n+1 and n+2, those of the next go on")
    func countsUp() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem", info: Self.info())
            try await world.store.write(.everything) { try $0.putBadges([anna.user.id: 7]) }
            try await world.create(["a", "b"], of: anna)
            #expect(try await world.pipeline.drain() == 2)
            try await world.create(["c"], of: anna)
            #expect(try await world.pipeline.drain() == 1)
            #expect(try await world.badges(of: anna) == [8, 9, 10])
            #expect(try await world.badge(of: anna) == 10)
        }
    }

    @Test("NINFO-11: a user has one counter for all subscriptions, and nobody else's")
    func oneCounterPerUser() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            try await world.subscribe(anna, .query, id: "q", type: "FeedItem", info: Self.info())
            try await world.subscribe(anna, .zone, id: "z", zone: "feed", info: Self.info())
            try await world.subscribe(anna, .database, id: "d", info: .visual())
            try await world.subscribe(ben, .database, info: Self.info())
            try await world.create(["a"], of: anna)
            try await world.create(["b"], of: ben)
            #expect(try await world.pipeline.drain() == 4)
            #expect(Set(try await world.badges(of: anna)) == [1, 2, nil])
            #expect(try await world.badges(of: ben) == [1])
            #expect(try await world.badge(of: anna) == 2)
        }
    }

    @Test("NINFO-11, PUSH-2: what collapses in a pass counts once; in the log each pass counts")
    func coalescedOnes() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let info = Self.info { $0.collapseIDKey = "feed" }
            try await world.subscribe(anna, .query, type: "FeedItem", info: info)
            try await world.create(["a", "b", "c"], of: anna)
            #expect(try await world.pipeline.drain() == 1)
            #expect(try await world.badges(of: anna) == [1])
            try await world.create(["d"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await world.badges(of: anna) == [2])
        }
    }

    @Test("NOTIF-14: a badge set while the pass builds is what the commit counts from")
    func setMeanwhile() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem", info: Self.info())
            try await world.store.write(.everything) { try $0.putBadges([anna.user.id: 99]) }
            try await world.create(["a", "b"], of: anna)
            let batch = try await world.readBatch()
            var plan = try #require(try world.pipeline.match(batch))
            world.pipeline.coalesce(&plan)
            let built = world.pipeline.build(plan, batch)
            #expect(built.map(\.payload.badge) == [100, 101])
            try await world.store.write(.everything) { try $0.putBadges([anna.user.id: 0]) }
            let stored = try await world.pipeline.commit(built, plan, batch).notifications
            #expect(try stored.map { try Badge($0.payload).value } == [1, 2])
            #expect(try await world.badges(of: anna) == [1, 2])
            #expect(try await world.badge(of: anna) == 2)
        }
    }

    @Test("NINFO-11: a pass that failed has counted nothing")
    func failedPass() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem", info: Self.info())
            try await world.create(["a"], of: anna)
            world.store.fail(writes: 1)
            await #expect(throws: ObservedStore.Failure.self) { try await world.pipeline.drain() }
            #expect(try await world.badge(of: anna) == nil)
            world.clock.advance(by: PushConfiguration().retry.first)
            _ = try await world.pipeline.drain()
            #expect(try await world.badges(of: anna) == [1])
        }
    }

    @Test("NOTIF-5, NOTIF-7, NOTIF-8: the log keeps in full what a push had to leave out")
    func fullPayload() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let body = String(repeating: "x", count: 4100)
            let info = Self.info {
                $0.alert.body = body
                $0.desiredKeys = ["author"]
            }
            try await world.subscribe(anna, .query, type: "FeedItem", info: info)
            let change = RecordChange(
                recordName: "a", recordType: "FeedItem", event: .created,
                fields: RecordFields(["author": Field(.string("Anna"))])
            )
            try await world.change(anna, .records([change]), origin: nil)
            _ = try await world.pipeline.drain()
            let log = try await world.log(of: anna)
            #expect(log.allSatisfy { $0.payload.count <= PayloadPruner.limit })
            let history = try await world.store.read { reader in
                try reader.notificationHistory(
                    of: anna.user.id, after: .start, marks: .all, limit: 9)
            }
            guard case .unread(let payload) = try #require(history.first).content else {
                Issue.record("unread")
                return
            }
            let text = String(decoding: payload, as: UTF8.self)
            #expect(text.contains(#""alert":"\#(body)","badge":1"#))
            #expect(text.contains(#""af":{"author":"Anna"}"#))
            #expect(!text.contains(#""p":1"#))
        }
    }

    @Test("PRUNE-8: couriers and streams carry in full what Apple's push service gets cut")
    func wholePayload() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            let body = String(repeating: "x", count: PayloadPruner.limit)
            let info = Self.info { $0.alert.body = body }
            try await world.subscribe(anna, .query, type: "FeedItem", info: info)
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            let notification = try #require(try await world.log(of: anna).first)
            #expect(notification.payload.count <= PayloadPruner.limit)
            let message = try #require(try await world.poll("capability"))
            let text = String(decoding: message.payload, as: UTF8.self)
            #expect(text.contains(body) && !text.contains(#""p":1"#))
            let event = StreamEvent(notification)
            let whole = String(decoding: event.wholeFrame.bytes, as: UTF8.self)
            #expect(whole.contains("data: \(text)\n"))
            let cut = String(decoding: event.frame.bytes, as: UTF8.self)
            #expect(
                cut.contains("data: \(String(decoding: notification.payload, as: UTF8.self))\n"))
        }
    }
}

/// The badge of a payload.
private struct Badge {
    var value: Int?

    init(_ payload: [UInt8]) throws {
        let object = try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        value = (object?["aps"] as? [String: Any])?["badge"] as? Int
    }
}

extension World {
    /// The badges in a person's log.
    fileprivate func badges(of person: Person) async throws -> [Int?] {
        try await log(of: person).map { try Badge($0.payload).value }
    }

    /// The counter of a person.
    fileprivate func badge(of person: Person) async throws -> Int? {
        try await store.read { try $0.badges(of: [person.user.id]) }[person.user.id]
    }
}
