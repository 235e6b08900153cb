// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

/// A process that is killed at any moment, and what the next one makes of it.
@Suite(.hangs) struct FaultPointTests {
    @Test(
        "PUSH-13, PUSH-14: killed at any moment, the next process tells all, each event with one ID",
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
                    tells: devices.page.key
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

            let after = try await next.tellAll(devices, from: before.cursor)
            #expect(before.phone + after.phone == (point == .received ? ids + ids : ids))
            #expect(
                before.page + after.page
                    == (point == .answered ? Array(ids.prefix(1)) + ids : ids)
            )
            #expect(try await next.pipeline.drain() == 0)
            try await next.store.close()
        }
    }

    @Test("PUSH-14: killed again and again at every stage, a change is told in the end")
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
            let told = try await stream.told(1)
            #expect(told.map(\.record) == ["a"])
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await world.log(of: anna).count == 1)
            try await world.store.close()
        }
    }

    @Test("PUSH-13: after an hour without any route, streams and couriers tell it all in order")
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
                    tells: devices.page.key
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
            let told = try await world.tellAll(devices, from: devices.phone.acknowledged)
            #expect(told.phone == log)
            #expect(told.page == log)
        }
    }
}

/// The devices of one user.
private struct Devices {
    var phone: StoredDevice
    var page: StoredDevice
}

/// The notification IDs each device was told, and the phone's stored cursor.
private struct Telling {
    var phone: [String] = []
    var page: [String] = []
    var cursor: NotificationSequence
}

extension World {
    /// Two records are created and told, until the process dies.
    fileprivate func live(
        until end: FaultPoint, _ anna: Person, _ devices: Devices
    ) async throws -> Telling {
        var told = Telling(cursor: devices.phone.acknowledged)
        if end == .refused {
            store.fail(writes: 1)
            await #expect(throws: ObservedStore.Failure.self) {
                try await self.create(["a", "b"], of: anna)
            }
            return told
        }
        try await create(["a", "b"], of: anna)
        if end == .changed { return told }
        let stream = streams.open(device: devices.phone, after: devices.phone.acknowledged)
        if case .pass(let stage) = end { die(after: stage) }
        if end == .halfPublished { die(after: .committed) }
        do {
            _ = try await pipeline.drain()
        } catch is Died {
            guard end == .halfPublished else { return told }
            streams.publish(try await log(of: anna), after: [:])
        }
        var iterator = stream.makeAsyncIterator()
        var cursor = told.cursor
        for _ in 0..<2 {
            guard let event = try await iterator.next() else { break }
            told.phone.append(try #require(try Told(event).notificationID))
            cursor = event.sequence
        }
        if end == .received { return told }
        told.cursor = cursor
        if end == .halfPublished || end == .stored { return told }
        guard let message = try await couriers.next(courier: "capability", waitingUpTo: .zero)
        else { return told }
        told.page.append(try #require(try Told(message.payload).notificationID))
        if end == .answered { return told }
        try await couriers.acknowledge(message, at: World.noon)
        let place = told.cursor
        try await store.write(.everything) { try $0.acknowledge(devices.phone.key, upTo: place) }
        if end == .acknowledged { return told }
        _ = try await store.write(.everything) {
            try $0.removeNotifications(createdBefore: World.noon, limit: 100)
        }
        return told
    }

    /// Lets both devices take all that waits for them.
    fileprivate func tellAll(
        _ devices: Devices, from cursor: NotificationSequence
    ) async throws -> Telling {
        var told = Telling(cursor: cursor)
        let waiting = try await store.read { reader in
            try reader.notifications(
                for: devices.phone.user, after: cursor, excludingOrigin: nil, limit: 1000
            )
        }
        let stream = streams.open(device: devices.phone, after: cursor)
        for event in try await stream.told(waiting.count) {
            told.phone.append(try #require(event.notificationID))
        }
        while let message = try await couriers.next(courier: "capability", waitingUpTo: .zero) {
            told.page.append(try #require(try Told(message.payload).notificationID))
            try await couriers.acknowledge(message, at: World.noon)
        }
        return told
    }
}
