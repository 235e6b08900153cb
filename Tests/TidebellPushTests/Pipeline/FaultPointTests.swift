// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

/// A process that is killed at any moment, and what the next one makes of it.
@Suite(.hangs) struct FaultPointTests {
    @Test(
        "PUSH-13, PUSH-14: killed at any moment, the next process delivers all, each event with one ID",
        arguments: FaultPoint.allCases)
    func killed(at point: FaultPoint) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let devices = Devices(
                phone: try await world.device("phone", of: anna),
                page: try await world.device("page", of: anna)
            )
            try await world.store.write(.everything) {
                try $0.putPushToken(
                    StoredPushToken(
                        token: "token", apnsEnvironment: .development, courier: "capability"
                    ),
                    notifying: devices.page.key
                )
            }
            try await world.subscribe(anna, .query, type: "FeedItem")
            let before = try await world.live(until: point, anna, devices)

            let next = try await world.restarted()
            let logged = try await next.log(of: anna)
            #expect(logged.count == (point.isLogged ? 2 : 0))
            _ = try await next.pipeline.drain()
            let ids = try await next.log(of: anna).map(\.notificationID)
            // Once it is in the log, the notification ID is settled.
            if point.isLogged { #expect(ids == logged.map(\.notificationID)) }
            #expect(ids.count == (point == .refused ? 0 : 2))

            let after = try await next.deliverAll(devices, from: before.cursor)
            #expect(before.phone + after.phone == (point == .received ? ids + ids : ids))
            #expect(
                before.page + after.page
                    == (point == .answered ? Array(ids.prefix(1)) + ids : ids)
            )
            #expect(try await next.pipeline.drain() == 0)
            try await next.store.close()
        }
    }

    @Test("PUSH-14: killed again and again at every stage, a change is delivered in the end")
    func killedRepeatedly() async throws {
        try await World.run { first in
            let anna = try await first.person("anna")
            let phone = try await first.device("phone", of: anna)
            try await first.subscribe(anna, .query, type: "FeedItem")
            try await first.create(["a"], of: anna)
            var world = first
            for stage in PassStep.allCases {
                world.die(after: stage)
                let dying = world
                await #expect(throws: World.Died.self) { try await dying.pipeline.drain() }
                world = try await world.restarted()
                guard stage != .committed else { break }
            }
            let stream = world.streams.open(device: phone, after: phone.acknowledged)
            let delivered = try await stream.delivered(1)
            #expect(delivered.map(\.record) == ["a"])
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await world.log(of: anna).count == 1)
            try await world.store.close()
        }
    }

    @Test("PUSH-13: after an hour without any route, streams and couriers deliver it all in order")
    func outage() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let devices = Devices(
                phone: try await world.device("phone", of: anna),
                page: try await world.device("page", of: anna)
            )
            try await world.store.write(.everything) {
                try $0.putPushToken(
                    StoredPushToken(
                        token: "token", apnsEnvironment: .development, courier: "capability"
                    ),
                    notifying: devices.page.key
                )
            }
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.subscribe(anna, .database, id: "silent")
            for minute in 0..<60 {
                world.clock.advance(by: .seconds(60))
                try await world.create(["item-\(minute)"], of: anna)
                _ = try await world.pipeline.drain()
            }
            let log = try await world.log(of: anna).map(\.notificationID)
            // Sixty records, and one background push that stands for sixty.
            #expect(log.count == 61)
            let delivered = try await world.deliverAll(devices, from: devices.phone.acknowledged)
            #expect(delivered.phone == log)
            #expect(delivered.page == log)
        }
    }
}

/// The devices of one user.
private struct Devices {
    var phone: StoredDevice
    var page: StoredDevice
}

/// The notification IDs each device received, and the phone's stored cursor.
private struct Deliveries {
    var phone: [String] = []
    var page: [String] = []
    var cursor: NotificationSequence
}

extension World {
    /// Two records are created and delivered, until the process dies.
    fileprivate func live(
        until end: FaultPoint, _ anna: Person, _ devices: Devices
    ) async throws -> Deliveries {
        var delivered = Deliveries(cursor: devices.phone.acknowledged)
        if end == .refused {
            store.fail(writes: 1)
            await #expect(throws: ObservedStore.Failure.self) {
                try await self.create(["a", "b"], of: anna)
            }
            return delivered
        }
        try await create(["a", "b"], of: anna)
        if end == .changed { return delivered }
        let stream = streams.open(device: devices.phone, after: devices.phone.acknowledged)
        if case .pass(let stage) = end { die(after: stage) }
        if end == .halfPublished { die(after: .committed) }
        do {
            _ = try await pipeline.drain()
        } catch is Died {
            guard end == .halfPublished else { return delivered }
            streams.publish(try await log(of: anna), after: [:])
        }
        var iterator = stream.makeAsyncIterator()
        var cursor = delivered.cursor
        for _ in 0..<2 {
            guard let event = try await iterator.next() else { break }
            delivered.phone.append(try #require(try DeliveredPayload(event).notificationID))
            cursor = event.sequence
        }
        if end == .received { return delivered }
        delivered.cursor = cursor
        if end == .halfPublished || end == .stored { return delivered }
        guard let message = try await couriers.next(courier: "capability", waitingUpTo: .zero)
        else { return delivered }
        delivered.page.append(try #require(try DeliveredPayload(message.payload).notificationID))
        if end == .answered { return delivered }
        try await couriers.acknowledge(message, at: World.noon)
        let stored = delivered.cursor
        try await store.write(.everything) { try $0.acknowledge(devices.phone.key, upTo: stored) }
        if end == .acknowledged { return delivered }
        _ = try await store.write(.everything) {
            try $0.removeNotifications(createdBefore: World.noon, limit: 100)
        }
        return delivered
    }

    /// Lets both devices take all that waits for them.
    fileprivate func deliverAll(
        _ devices: Devices, from cursor: NotificationSequence
    ) async throws -> Deliveries {
        var delivered = Deliveries(cursor: cursor)
        let waiting = try await store.read { reader in
            try reader.notifications(
                for: devices.phone.user, after: cursor, excludingOrigin: nil, limit: 1000
            )
        }
        let stream = streams.open(device: devices.phone, after: cursor)
        for event in try await stream.delivered(waiting.count) {
            delivered.phone.append(try #require(event.notificationID))
        }
        while let message = try await couriers.next(courier: "capability", waitingUpTo: .zero) {
            delivered.page.append(
                try #require(try DeliveredPayload(message.payload).notificationID))
            try await couriers.acknowledge(message, at: World.noon)
        }
        return delivered
    }
}
