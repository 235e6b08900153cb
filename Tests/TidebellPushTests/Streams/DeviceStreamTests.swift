// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.hangs) struct DeviceStreamTests {
    @Test("PUSH-13: a stream gives what the log has, over several pages, and then what comes")
    func backlogThenLive() async throws {
        try await World.run({ $0.notificationsPerPage = 3 }) { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            let names = (0..<10).map { "item-\($0)" }
            for name in names.prefix(7) { try await world.create([name], of: anna) }
            _ = try await world.pipeline.drain()
            let stream = world.streams.open(device: phone, after: .start)
            for name in names.suffix(3) { try await world.create([name], of: anna) }
            _ = try await world.pipeline.drain()
            #expect(try await stream.delivered(10).map(\.record) == names)
        }
    }

    @Test("What waits comes in one part, up to a number of bytes")
    func partsOfSeveralEvents() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b", "c"], of: anna)
            _ = try await world.pipeline.drain()
            var stream = world.streams.open(device: phone, after: .start).makeAsyncIterator()
            func records(upTo bytes: Int) async throws -> [String?] {
                guard case .events(let events) = try await stream.nextPart(upTo: bytes) else {
                    return []
                }
                return try events.map { try DeliveredPayload($0).record }
            }
            #expect(try await records(upTo: 0) == ["a"])
            #expect(try await records(upTo: 1_000_000) == ["b", "c"])
            try await world.create(["d", "e", "f"], of: anna)
            _ = try await world.pipeline.drain()
            // The first read found the end of the log, so these were published to the stream.
            #expect(try await records(upTo: 1_000_000) == ["d", "e", "f"])
            try await world.create(["g", "h", "i"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records(upTo: 1) == ["g"])
            #expect(try await records(upTo: 1_000_000) == ["h", "i"])
        }
    }

    @Test("PUSH-13: a stream resumes after its cursor")
    func resume() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b", "c"], of: anna)
            _ = try await world.pipeline.drain()
            var first = world.streams.open(device: phone, after: .start).makeAsyncIterator()
            _ = try await first.next()
            let event = try #require(try await first.next())
            let second = world.streams.open(device: phone, after: event.sequence)
            #expect(try await second.delivered(1).map(\.record) == ["c"])
        }
    }

    @Test("A cursor beyond the log counts as its end, so the device is not deaf")
    func cursorBeyondTheLog() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["old"], of: anna)
            _ = try await world.pipeline.drain()
            let stream = world.streams.open(
                device: phone, after: NotificationSequence(rawValue: .max))
            try await withThrowingTaskGroup(of: [DeliveredPayload].self) { group in
                let reads = world.store.reads
                group.addTask { try await stream.delivered(1) }
                await eventually { world.store.reads > reads }
                try await world.create(["new"], of: anna)
                _ = try await world.pipeline.drain()
                #expect(try await group.next()?.map(\.record) == ["new"])
            }
        }
    }

    @Test("A slow reader goes back to the log and misses nothing; a fast one is not held up")
    func slowReader() async throws {
        try await World.run({
            $0.waitingPerStream = 4
            $0.notificationsPerPage = 5
        }) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            var slow = world.streams.open(
                device: try await world.device("slow", of: anna), after: .start
            ).makeAsyncIterator()
            var fast = world.streams.open(
                device: try await world.device("fast", of: anna), after: .start
            ).makeAsyncIterator()
            let names = (0..<60).map { "item-\($0)" }
            var seen: [String?] = []
            for (index, name) in names.enumerated() {
                try await world.create([name], of: anna)
                _ = try await world.pipeline.drain()
                #expect(try (try await fast.next()).map(DeliveredPayload.init)?.record == name)
                // Reads one for every ten that come: overflows again and again.
                if index.isMultiple(of: 10) {
                    seen.append(try (try await slow.next()).map(DeliveredPayload.init)?.record)
                }
            }
            while seen.count < 60 {
                seen.append(try (try await slow.next()).map(DeliveredPayload.init)?.record)
            }
            #expect(seen == names)
        }
    }

    @Test("PUSH-6: background pushes are spread over the time configured, and merged meanwhile")
    func spread() async throws {
        try await World.run({ $0.spread = .seconds(4) }) { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .database, id: "all")
            let stream = world.streams.open(device: phone, after: .start)
            try await withThrowingTaskGroup(of: [DeliveredPayload].self) { group in
                let reads = world.store.reads
                group.addTask { try await stream.delivered(1) }
                await eventually { world.store.reads > reads }
                for number in 1...3 {
                    try await world.create(["\(number)"], of: anna, zone: "zone-\(number)")
                    _ = try await world.pipeline.drain()
                }
                await world.clock.untilSleeping()
                world.clock.advance(by: .seconds(4))
                #expect(try await group.next()?.map(\.zone) == ["zone-3"])
            }
        }
    }

    @Test("PUSH-6: what is shown to the user, and what waited in the log, is not spread")
    func spreadLeavesOut() async throws {
        try await World.run({ $0.spread = .seconds(4) }) { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .database, id: "all")
            try await world.create(["0"], of: anna)
            _ = try await world.pipeline.drain()
            try await world.subscribe(anna, .database, id: "all", info: .visual())
            var iterator = world.streams.open(device: phone, after: .start).makeAsyncIterator()
            #expect(
                try (try await iterator.next()).map(DeliveredPayload.init)?.subscription == "all")
            try await world.create(["1"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(
                try (try await iterator.next()).map(DeliveredPayload.init)?.subscription == "all")
        }
    }

    @Test("Every stream gives a sign of life in each interval, whoever else is sent something")
    func signsOfLife() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            var streams: [DeviceStream.Iterator] = []
            for number in 0..<5 {
                let device = try await world.device("device-\(number)", of: anna)
                streams.append(
                    world.streams.open(device: device, after: .start).makeAsyncIterator()
                )
            }
            try await withThrowingTaskGroup(of: Void.self) { group throws in
                group.addTask { try await world.streams.run() }
                for _ in 0..<2 {
                    for _ in 0..<3 {
                        await world.clock.waitForSleeper(of: .seconds(5))
                        world.clock.advance(by: .seconds(5))
                    }
                    await world.clock.waitForSleeper(of: .seconds(5))
                    for index in streams.indices {
                        #expect(try await streams[index].nextPart(upTo: 0) == .silence)
                    }
                }
                group.cancelAll()
            }
        }
    }

    @Test("PUSH-2: what waits for a slow device is replaced by what is newer")
    func replacedWhileWaiting() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .database, id: "all")
            try await world.subscribe(anna, .query, id: "items", type: "FeedItem")
            var iterator = world.streams.open(device: phone, after: .start).makeAsyncIterator()
            try await world.create(["0"], of: anna, zone: "zone-0")
            _ = try await world.pipeline.drain()
            for _ in 0..<2 { _ = try await iterator.next() }
            for number in 1...3 {
                try await world.create(["\(number)"], of: anna, zone: "zone-\(number)")
                _ = try await world.pipeline.drain()
            }
            var delivered: Set<String> = []
            for _ in 0..<4 {
                let event = try #require(try await iterator.next())
                delivered.insert(try DeliveredPayload(event).description)
            }
            #expect(
                delivered == [
                    "met all zone-3", "qry items zone-1 1", "qry items zone-2 2",
                    "qry items zone-3 3",
                ]
            )
        }
    }

    @Test("A stream leaves the registry when it is let go, or when its task is cancelled")
    func closing() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            do {
                let stream = world.streams.open(device: phone, after: .start)
                #expect(world.streams.openCount == 1)
                _ = stream
            }
            #expect(world.streams.openCount == 0)

            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var count = 0
                        for try await _ in world.streams.open(device: phone, after: .start) {
                            count += 1
                        }
                        return count
                    }
                }
                await eventually { world.streams.openCount == 3 }
                group.cancelAll()
                for try await count in group { #expect(count == 0) }
            }
            #expect(world.streams.openCount == 0)
        }
    }

    @Test("A cancelled call of next takes no event away")
    func cancelledNext() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            let stream = world.streams.open(device: phone, after: .start)
            let held = stream.makeAsyncIterator()
            let reads = world.store.reads
            let missed = try await withThrowingTaskGroup(of: StreamEvent?.self) { group in
                group.addTask {
                    var iterator = held
                    return try await iterator.next()
                }
                await eventually { world.store.reads > reads }
                group.cancelAll()
                return try await group.next() ?? nil
            }
            #expect(missed == nil)
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await stream.delivered(1).map(\.record) == ["a"])
        }
    }

    @Test("A failing read fails the stream; a new one loses nothing")
    func failingRead() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a"], of: anna)
            _ = try await world.pipeline.drain()
            world.store.fail(reads: 1)
            await #expect(throws: ObservedStore.Failure.self) {
                try await world.streams.open(device: phone, after: .start).delivered(1)
            }
            let stream = world.streams.open(device: phone, after: .start)
            #expect(try await stream.delivered(1).map(\.record) == ["a"])
        }
    }

    @Test("One publish reaches 1,000 streams, with one frame for all and no read for any")
    func fanOut() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            let streams = (0..<1000).map { _ in world.streams.open(device: phone, after: .start) }
            #expect(world.streams.openCount == 1000)
            try await withThrowingTaskGroup(of: StreamEvent?.self) { group in
                let reads = world.store.reads
                for stream in streams {
                    group.addTask {
                        var iterator = stream.makeAsyncIterator()
                        return try await iterator.next()
                    }
                }
                await eventually { world.store.reads >= reads + 1000 }
                try await world.create(["a"], of: anna)
                _ = try await world.pipeline.drain()
                var events: Set<StreamEvent?> = []
                for try await event in group { events.insert(event) }
                #expect(events.count == 1)
                // The drain itself: the claim with the batch, and that no more is pending.
                #expect(world.store.reads == reads + 1000 + 2)
            }
        }
    }
}
