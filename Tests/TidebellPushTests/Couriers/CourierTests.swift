// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.hangs) struct CourierTests {
    private static let hold = Duration.seconds(55)

    @Test(
        "PUSH-26: a courier gives the oldest notification until it is acknowledged, then the next")
    func firstInFirstOut() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b"], of: anna)
            _ = try await world.pipeline.drain()

            let first = try #require(try await world.poll("capability"))
            #expect(try DeliveredPayload(first.payload).record == "a")
            #expect(try await world.poll("capability") == first)
            try await world.couriers.acknowledge(first, at: World.noon)
            let second = try #require(try await world.poll("capability"))
            #expect(try DeliveredPayload(second.payload).record == "b")
            try await world.couriers.acknowledge(second, at: World.noon)
            #expect(try await world.poll("capability") == nil)
        }
    }

    @Test("A poll waits for the next notification")
    func waits() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await withThrowingTaskGroup(of: CourierMessage?.self) { group in
                group.addTask {
                    try await world.couriers.next(courier: "capability", waitingUpTo: Self.hold)
                }
                await world.clock.waitForSleeper(of: Self.hold)
                try await world.create(["a"], of: anna)
                _ = try await world.pipeline.drain()
                let message = try #require(try await group.next() ?? nil)
                #expect(try DeliveredPayload(message.payload).record == "a")
            }
        }
    }

    @Test("web-services 5.12: a poll without news ends empty when its time is over")
    func timesOut() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await withThrowingTaskGroup(of: CourierMessage?.self) { group in
                group.addTask {
                    try await world.couriers.next(courier: "capability", waitingUpTo: Self.hold)
                }
                await world.clock.waitForSleeper(of: Self.hold)
                world.clock.advance(by: Self.hold)
                let message = try await group.next()
                #expect(message == .some(nil))
            }
        }
    }

    @Test("An unknown capability is refused with NOT_FOUND")
    func unknown() async throws {
        try await World.run { world in
            let error = await #expect(throws: WireError.self) {
                try await world.couriers.next(courier: "guess", waitingUpTo: Self.hold)
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test("SUB-46: the page that wrote is not notified through its courier")
    func origin() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["own"], of: anna, origin: "page")
            try await world.create(["other"], of: anna, origin: "phone")
            _ = try await world.pipeline.drain()
            let message = try #require(try await world.poll("capability"))
            #expect(try DeliveredPayload(message.payload).record == "other")
        }
    }

    @Test("web-services 5.12: one courier serves several containers, each in the order of its log")
    func severalContainers() async throws {
        try await World.run { world in
            let other = ContainerKey(
                container: "iCloud.org.example.notes", environment: .development)
            let anna = try await world.person("anna")
            let annasNotes = try await world.person("anna", in: other)
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.connect("capability", try await world.device("page", of: annasNotes))
            for person in [anna, annasNotes] {
                try await world.subscribe(person, .query, type: "FeedItem")
            }
            for (index, person) in [anna, annasNotes, anna].enumerated() {
                try await world.create(["\(index)"], of: person)
                _ = try await world.pipeline.drain()
            }
            var records: [String?] = []
            while let message = try await world.poll("capability") {
                records.append(try DeliveredPayload(message.payload).record)
                try await world.couriers.acknowledge(message, at: World.noon)
            }
            // All of one moment: then one user's come before the other's.
            #expect(records == ["0", "2", "1"])
        }
    }

    @Test("A poll that waits learns of a container that is registered meanwhile")
    func refresh() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(ben, .query, type: "FeedItem")
            try await withThrowingTaskGroup(of: CourierMessage?.self) { group in
                group.addTask {
                    try await world.couriers.next(courier: "capability", waitingUpTo: Self.hold)
                }
                await world.clock.waitForSleeper(of: Self.hold)
                try await world.connect("capability", try await world.device("ben", of: ben))
                world.couriers.refresh(courier: "capability")
                try await world.create(["a"], of: ben)
                _ = try await world.pipeline.drain()
                let message = try #require(try await group.next() ?? nil)
                #expect(try DeliveredPayload(message.payload).record == "a")
            }
        }
    }

    @Test("web-services 5.12: of too many the oldest are dropped, and the next one has p")
    func bounded() async throws {
        try await World.run({ $0.waitingPerCourier = 3 }) { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            for number in 0..<7 { try await world.create(["\(number)"], of: anna) }
            _ = try await world.pipeline.drain()
            var delivered: [String?] = []
            var marked: [Bool] = []
            while let message = try await world.poll("capability") {
                delivered.append(try DeliveredPayload(message.payload).record)
                marked.append(
                    String(decoding: message.payload, as: UTF8.self).contains(#""p":1,"#)
                )
                try await world.couriers.acknowledge(message, at: World.noon)
            }
            #expect(delivered == ["4", "5", "6"])
            #expect(marked == [true, false, false])
        }
    }

    @Test("An acknowledgement survives a restart")
    func restart() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.connect("capability", try await world.device("page", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b"], of: anna)
            _ = try await world.pipeline.drain()
            let first = try #require(try await world.poll("capability"))
            try await world.couriers.acknowledge(first, at: World.noon)

            let next = try await world.restarted()
            let second = try #require(try await next.poll("capability"))
            #expect(try DeliveredPayload(second.payload).record == "b")
            try await next.store.close()
        }
    }

    // MARK: Positions of their own

    private func records(_ courier: String, in world: World) async throws -> [String?] {
        var records: [String?] = []
        while let message = try await world.poll(courier) {
            records.append(try DeliveredPayload(message.payload).record)
            try await world.couriers.acknowledge(message, at: World.noon)
        }
        return records
    }

    @Test("W-3: two tabs of one client ID get all pushes each, and so does its stream")
    func tabs() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let page = try await world.device("page", of: anna)
            try await world.connect("first", page)
            try await world.connect("second", page)
            let stream = world.streams.open(device: page, after: page.acknowledged)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b", "c"], of: anna)
            _ = try await world.pipeline.drain()
            for courier in ["first", "second"] {
                #expect(try await records(courier, in: world) == ["a", "b", "c"], "\(courier)")
            }
            #expect(try await stream.delivered(3).map(\.record) == ["a", "b", "c"])
            let devices = try await world.store.read { try $0.devices(of: anna.user.id) }
            #expect(devices == [page])
        }
    }

    @Test("W-3: a token begins where it is made, whatever waits for others of its device")
    func newTab() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let page = try await world.device("page", of: anna)
            try await world.connect("first", page)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["before"], of: anna)
            _ = try await world.pipeline.drain()
            try await world.connect("second", page)
            try await world.create(["after"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records("second", in: world) == ["after"])
            #expect(try await records("first", in: world) == ["before", "after"])
        }
    }

    @Test("W-4: a token that another user registers has nothing of the first one's any more")
    func otherUser() async throws {
        try await World.run { world in
            let (anna, otto) = (try await world.person("anna"), try await world.person("otto"))
            try await world.connect("page", try await world.device("annas", of: anna))
            for person in [anna, otto] {
                try await world.subscribe(person, .query, type: "FeedItem")
            }
            try await world.create(["anna waiting"], of: anna)
            _ = try await world.pipeline.drain()
            try await world.connect("page", try await world.device("ottos", of: otto))
            try await world.create(["anna later"], of: anna)
            try await world.create(["otto later"], of: otto)
            _ = try await world.pipeline.drain()
            #expect(try await records("page", in: world) == ["otto later"])
        }
    }

    @Test("W-4: nor of another container's of the first one's account")
    func otherUserElsewhere() async throws {
        try await World.run { world in
            let other = ContainerKey(
                container: "iCloud.org.example.notes", environment: .development)
            let anna = try await world.person("anna", in: other)
            let otto = try await world.person("otto")
            try await world.connect("page", try await world.device("annas", of: anna))
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.connect("page", try await world.device("ottos", of: otto))
            try await world.create(["anna"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records("page", in: world) == [])
        }
    }

    @Test("W-12: the courier of a device that another user took over ends, and is unknown then")
    func takenOver() async throws {
        try await World.run { world in
            let (anna, otto) = (try await world.person("anna"), try await world.person("otto"))
            try await world.connect("capability", try await world.device("page", of: anna))
            try await withThrowingTaskGroup(of: CourierMessage?.self) { group in
                group.addTask {
                    try await world.couriers.next(courier: "capability", waitingUpTo: Self.hold)
                }
                await world.clock.waitForSleeper(of: Self.hold)
                await letOthersRun()
                _ = try await world.device("page", of: otto)
                world.couriers.refresh(courier: "capability")
                #expect(try await group.next() == .some(nil))
            }
            let error = await #expect(throws: WireError.self) {
                try await world.poll("capability")
            }
            #expect(error?.code == .notFound)
        }
    }
}

extension World {
    /// Makes a courier reach a device.
    func connect(_ courier: String, _ device: StoredDevice) async throws {
        let token = StoredPushToken(
            token: "token of \(courier)", apnsEnvironment: .development, courier: courier)
        try await store.write(.everything) { transaction throws in
            // As who registers it does: the others give it up.
            let user = try #require(try transaction.users([device.user])[device.user])
            for holder in try transaction.holders(
                ofClientID: device.clientID, pushToken: token.token, besides: user)
            {
                try transaction.giveUp(
                    clientID: device.clientID, pushToken: token.token, of: holder)
            }
            try transaction.putPushToken(token, notifying: device.key)
        }
    }

    /// Asks a courier without waiting.
    func poll(_ courier: String) async throws -> CourierMessage? {
        try await couriers.next(courier: courier, waitingUpTo: .zero)
    }
}
