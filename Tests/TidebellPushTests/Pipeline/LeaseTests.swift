// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellWire

/// Several pipelines on one store, and databases whose passes fail.
@Suite(.hangs) struct LeaseTests {
    struct Broken: Error {}

    private func pipeline(
        in world: World, _ configure: (inout PushConfiguration) -> Void = { _ in },
        reached: @escaping @Sendable (PassStep) async throws -> Void
    ) -> PushPipeline {
        var configuration = PushConfiguration()
        configure(&configuration)
        let clock = world.clock
        return PushPipeline(
            store: world.store, routes: [world.streams, world.couriers], clock: clock,
            now: { World.noon.advanced(by: clock.now.offset) },
            makeUUID: Randomness.system.makeUUID, logger: world.log.logger,
            configuration: configuration, metrics: PushMetrics(factory: world.tally),
            reached: reached
        )
    }

    private func records(of person: Person, in world: World) async throws -> [String?] {
        try await world.log(of: person).map { try DeliveredPayload($0.payload).record }
    }

    /// Creates people who subscribe to their own items.
    private func people(_ names: [String], in world: World) async throws -> [Person] {
        var people: [Person] = []
        for name in names {
            let person = try await world.person(name)
            try await world.subscribe(person, .query, type: "FeedItem")
            people.append(person)
        }
        return people
    }

    @Test("H7: a database whose pass fails waits longer and longer, and holds up no other")
    func failingDatabase() async throws {
        try await World.run { world in
            let people = try await people(["anna", "ben", "carla"], in: world)
            let (store, broken) = (world.store, people[1].database)
            let pipeline = pipeline(in: world) { stage in
                if stage == .built, store.claimed.contains(broken) { throw Broken() }
            }
            for person in people { try await world.create(["a"], of: person) }
            await #expect(throws: Broken.self) { try await pipeline.drain() }
            #expect(try await records(of: people[0], in: world) == ["a"])
            #expect(try await records(of: people[2], in: world) == ["a"])
            // It fails with the others, then alone; then it waits 200 ms, 400 ms, 800 ms.
            #expect(world.tally.values["tidebell.push.passes.failed"] == 2)
            for wait in [200, 400, 800] as [Int64] {
                world.clock.advance(by: .milliseconds(wait - 1))
                try await world.create(["\(wait)"], of: people[0])
                #expect(try await pipeline.drain() == 1)
                world.clock.advance(by: .milliseconds(1))
                await #expect(throws: Broken.self) { try await pipeline.drain() }
            }
            // Whoever claims it later delivers it all.
            world.clock.advance(by: PushConfiguration().retry.longest)
            #expect(try await world.pipeline.drain() == 1)
            #expect(try await records(of: people[1], in: world) == ["a"])
        }
    }

    @Test("H7: a database whose passes fail is logged once, and again when it works again")
    func failingIsNamed() async throws {
        try await World.run { world in
            let people = try await people(["anna", "ben", "carla"], in: world)
            let broken = Mutex<Set<DatabaseID>>([])
            let store = world.store
            let pipeline = pipeline(in: world) { stage in
                guard stage == .built else { return }
                if !broken.withLock(\.self).isDisjoint(with: store.claimed) { throw Broken() }
            }
            let names = people.map { "\($0.database.rawValue)" }
            func logged() -> [String] { world.log.entries.compactMap { $0.metadata["database"] } }
            func create(_ record: String, failing: Set<DatabaseID>) async throws {
                broken.withLock { $0 = failing }
                for person in people { try await world.create([record], of: person) }
                world.clock.advance(by: PushConfiguration().retry.longest)
                _ = try? await pipeline.drain()
            }
            try await create("a", failing: [people[1].database])
            #expect(logged() == [names[1]])
            try await create("b", failing: [people[1].database, people[2].database])
            #expect(logged() == [names[1], names[2]])
            try await create("c", failing: [])
            #expect(Set(logged().suffix(2)) == [names[1], names[2]])
            #expect(logged().count == 4)
            let failing =
                "warning: the push pipeline fails for the changes of a database; its pushes wait and are tried again"
            let again = "notice: the push pipeline works again for the changes of a database"
            #expect(world.log.lines == [failing, failing, again, again])
            for person in people {
                #expect(try await records(of: person, in: world) == ["a", "b", "c"])
            }
        }
    }

    @Test("H7: many databases that fail one after the other do not keep a pipeline busy")
    func manyFail() async throws {
        try await World.run { world in
            let people = try await people((0..<12).map { "user-\($0)" }, in: world)
            for person in people { try await world.create(["a"], of: person) }
            let pipeline = pipeline(in: world, { $0.failuresPerRound = 3 }) { stage in
                if stage == .built { throw Broken() }
            }
            await #expect(throws: Broken.self) { try await pipeline.drain() }
            #expect(world.tally.values["tidebell.push.passes.failed"] == 3)
        }
    }

    @Test("PUSH-14: a pass that lost a lease drops that database's part, and commits the rest")
    func lostLease() async throws {
        try await World.run { world in
            let people = try await people(["anna", "ben"], in: world)
            let (gate, arrived) = (Gate(), Gate())
            let slow = pipeline(in: world) { stage in
                guard stage == .built else { return }
                arrived.open()
                await gate.wait()
            }
            try await world.create(["a"], of: people[0])
            try await world.create(["b"], of: people[1])
            async let slowly = slow.drain()
            await arrived.wait()
            // Held by the other: nothing to do.
            #expect(try await world.pipeline.drain() == 0)
            world.clock.advance(by: PushConfiguration().leaseDuration)
            let quick = pipeline(in: world, { $0.entriesPerPass = 1 }) { stage in
                if stage == .published { throw Broken() }
            }
            await #expect(throws: Broken.self) { try await quick.drain() }
            var notified: [String?] = []
            for person in people { notified += try await records(of: person, in: world) }
            #expect(notified.count == 1)
            gate.open()
            #expect(try await slowly == 1)
            #expect(world.tally.values["tidebell.push.leases.lost"] == 1)
            for (person, record) in zip(people, ["a", "b"]) {
                #expect(try await records(of: person, in: world) == [record])
            }
            #expect(try await world.pipeline.drain() == 0)
        }
    }

    @Test("PUSH-13: what another pipeline publishes first reaches a stream in the log's order")
    func publishedInAnotherOrder() async throws {
        try await World.run { world in
            let people = try await people(["anna"], in: world)
            let anna = people[0]
            let key = DatabaseKey(container: World.container, scope: .public, owner: nil)
            let shared = try await world.store.write(.everything) { try $0.makeDatabase(key).id }
            let annaInPublic = Person(user: anna.user, database: shared)
            try await world.subscribe(annaInPublic, .query, id: "public", type: "FeedItem")
            let phone = try await world.device("phone", of: anna)
            var iterator = world.streams.open(device: phone, after: .start).makeAsyncIterator()
            try await world.create(["0"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try (try await iterator.next()).map(DeliveredPayload.init)?.record == "0")

            let (gate, arrived) = (Gate(), Gate())
            let slow = pipeline(in: world) { stage in
                guard stage == .committed else { return }
                arrived.open()
                await gate.wait()
            }
            try await world.create(["1"], of: anna)
            async let slowly = slow.drain()
            await arrived.wait()
            try await world.create(["2"], of: annaInPublic)
            #expect(try await world.pipeline.drain() == 1)
            for record in ["1", "2"] {
                #expect(
                    try (try await iterator.next()).map(DeliveredPayload.init)?.record == record)
            }
            gate.open()
            #expect(try await slowly == 1)
            try await world.create(["3"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try (try await iterator.next()).map(DeliveredPayload.init)?.record == "3")
        }
    }
}
