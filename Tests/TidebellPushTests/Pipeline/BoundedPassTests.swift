// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellScheduling
import TidebellWire

/// What one user's subscriptions and changes may cost all others.
@Suite(.hangs) struct BoundedPassTests {
    /// Subscribes a person with filters of about so many bytes.
    private func subscribe(
        _ person: Person, ids: [String], fillingBytes bytes: Int, in world: World
    ) async throws {
        for id in ids {
            let filter = WireFilter(
                .notEquals, .field("title"), .string(String(repeating: "x", count: bytes))
            )
            try await world.subscribe(
                person, .query, id: id, type: "FeedItem", filters: [filter])
        }
    }

    private func create(_ names: [String], of person: Person, in world: World) async throws {
        for name in names {
            var change = RecordChange(
                recordName: name, recordType: "FeedItem", event: .created)
            change.fields = RecordFields(["title": Field(.string(name))])
            try await world.change(person, .records([change]), origin: nil)
        }
    }

    private func delivered(to person: Person, in world: World) async throws -> [String] {
        try await world.log(of: person).map { notification in
            let delivered = try DeliveredPayload(notification.payload)
            return "\(delivered.subscription ?? "") \(delivered.record ?? "")"
        }
    }

    @Test("H7: a pass reads a subscription once, however many changes it is held against")
    func readsOnce() async throws {
        try await World.run({ $0.subscriptionBytesPerPass = 6000 }) { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await subscribe(anna, ids: ["s", "t"], fillingBytes: 2000, in: world)
            let names = (0..<20).map { "r\($0)" }
            try await create(names, of: anna, in: world)
            _ = try await world.pipeline.drain()
            #expect(
                try await delivered(to: anna, in: world)
                    == names.flatMap { ["s \($0)", "t \($0)"] })
            // Read for each change they would have made 80,000 bytes.
            #expect(world.tally.values["tidebell.push.passes.cut"] == nil)
        }
    }

    @Test("H7: a pass ends when it has read so many bytes of subscriptions; the rest follows")
    func bytes() async throws {
        try await World.run({ $0.subscriptionBytesPerPass = 5000 }) { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            let ids = (0..<9).map { "s\($0)" }
            try await subscribe(anna, ids: ids, fillingBytes: 2000, in: world)
            try await create(["a", "b"], of: anna, in: world)
            _ = try await world.pipeline.drain()
            #expect(
                try await delivered(to: anna, in: world) == ids.map { "\($0) a" }
                    + ids.map { "\($0) b" }
            )
            // Three subscriptions a pass, eighteen pairs: every pass but the last is cut.
            #expect(world.tally.values["tidebell.push.passes.cut"] == 5)
        }
    }

    /// Commits the creation of records with a text of so many bytes each.
    private func create(
        _ names: [String], fillingBytes bytes: Int, of person: Person, in world: World
    ) async throws {
        for name in names {
            var change = RecordChange(recordName: name, recordType: "FeedItem", event: .created)
            change.fields = RecordFields([
                "title": Field(.string(String(repeating: "y", count: bytes)))
            ])
            try await world.change(person, .records([change]), origin: nil)
        }
    }

    @Test("H7: a pass ends when it has read so many bytes of changes; the rest follows, in order")
    func changeBytes() async throws {
        try await World.run({ $0.changeBytesPerPass = 5000 }) { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await subscribe(anna, ids: ["s"], fillingBytes: 1, in: world)
            let names = (0..<9).map { "r\($0)" }
            try await create(names, fillingBytes: 2000, of: anna, in: world)
            // One that is longer than a pass comes alone.
            try await create(["long"], fillingBytes: 9000, of: anna, in: world)
            _ = try await world.pipeline.drain()
            #expect(
                try await delivered(to: anna, in: world) == (names + ["long"]).map { "s \($0)" })
            // Twice two, four times, one, and the long one: all but the last are cut.
            #expect(world.tally.values["tidebell.push.passes.cut"] == 5)
        }
    }

    @Test("H7: long changes of one leave room for those of another in the same pass")
    func changeBytesOfTwo() async throws {
        try await World.run({ $0.changeBytesPerPass = 5000 }) { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            try await create(["a", "b"], fillingBytes: 4000, of: anna, in: world)
            try await create(["c"], fillingBytes: 100, of: ben, in: world)
            let batch = try await world.readBatch()
            #expect(batch.items.map(\.entry.database) == [anna.database, ben.database])
            try await world.giveBack(batch)
        }
    }

    @Test("H7: a pass compares so many bytes; the rest follows in order, after others' turns")
    func work() async throws {
        // A pair is of 64 bytes for itself, 64 for its filter, 1,000 of it and 2,000 found.
        try await World.run({ $0.matchingBytesPerPass = 20_000 }) { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            _ = try await world.device("phone", of: anna)
            _ = try await world.device("tablet", of: ben)
            let ids = (0..<10).map { "s\($0)" }
            try await subscribe(anna, ids: ids, fillingBytes: 1000, in: world)
            try await subscribe(ben, ids: ["t"], fillingBytes: 1, in: world)
            try await create(["a", "b"], fillingBytes: 2000, of: anna, in: world)
            try await create(["c"], of: ben, in: world)
            for expected in [(7, 0), (14, 1), (20, 1)] {
                let batch = try await world.readBatch()
                var plan = try #require(try world.pipeline.match(batch))
                world.pipeline.coalesce(&plan)
                let built = world.pipeline.build(plan, batch)
                _ = try await world.pipeline.commit(built, plan, batch)
                try await world.giveBack(batch)
                let counts = try await (
                    world.log(of: anna).count, world.log(of: ben).count
                )
                #expect(counts == expected)
            }
            #expect(
                try await delivered(to: anna, in: world) == ids.map { "\($0) a" }
                    + ids.map { "\($0) b" }
            )
            #expect(world.tally.values["tidebell.push.passes.cut"] == 2)
        }
    }

    @Test("H7: one comparison longer than all that a pass may do is done all the same")
    func longComparison() async throws {
        try await World.run({ $0.matchingBytesPerPass = 1 }) { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await subscribe(anna, ids: ["s", "t"], fillingBytes: 1, in: world)
            try await create(["a", "b"], fillingBytes: 2000, of: anna, in: world)
            _ = try await world.pipeline.drain()
            #expect(try await delivered(to: anna, in: world) == ["s a", "t a", "s b", "t b"])
        }
    }

    @Test("H7: matching ends where its task is cancelled, whatever there is to compare")
    func cancelled() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await subscribe(anna, ids: ["s"], fillingBytes: 1, in: world)
            try await create(["a"], of: anna, in: world)
            let batch = try await world.readBatch()
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    #expect(throws: CancellationError.self) { try world.pipeline.match(batch) }
                }
            }
            try await world.giveBack(batch)
        }
    }

    @Test(
        "H7: who has a large backlog delays others by two passes",
        arguments: ["changes", "subscriptions"])
    func backlog(of kind: String) async throws {
        var configuration = PushConfiguration()
        configuration.entriesPerPass = 4
        configuration.notificationsPerPass = 3
        let bounds = configuration
        try await World.run({ $0 = bounds }) { world in
            let anna = try await world.person("anna")
            let ben = try await world.person("ben")
            _ = try await world.device("annas-phone", of: anna)
            _ = try await world.device("bens-phone", of: ben)
            let isWide = kind == "subscriptions"
            try await subscribe(
                anna, ids: (0..<(isWide ? 30 : 1)).map { "s\($0)" }, fillingBytes: 1, in: world)
            try await subscribe(ben, ids: ["s"], fillingBytes: 1, in: world)
            try await create((0..<(isWide ? 1 : 30)).map { "r\($0)" }, of: anna, in: world)
            try await create(["r"], of: ben, in: world)

            let passes = Mutex(0)
            struct Stop: Error {}
            let pipeline = PushPipeline(
                store: world.store, routes: [], clock: world.clock, now: { World.noon },
                makeUUID: Randomness.system.makeUUID, logger: world.log.logger,
                configuration: bounds,
                reached: { stage in
                    guard stage == .published else { return }
                    let count = passes.withLock { passes in
                        passes += 1
                        return passes
                    }
                    if count == 2 { throw Stop() }
                }
            )
            await #expect(throws: Stop.self) { try await pipeline.drain() }
            #expect(try await delivered(to: ben, in: world) == ["s r"])
            #expect(try await world.log(of: anna).count < 10)
            // The rest follows, in order.
            _ = try await world.pipeline.drain()
            let all =
                isWide ? (0..<30).map { "s\($0) r0" } : (0..<30).map { "s0 r\($0)" }
            #expect(try await delivered(to: anna, in: world) == all)
        }
    }

    @Test("H7: a pipeline that is to stop ends after the pass under way and keeps the rest")
    func stops() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            _ = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            for name in 0..<10 { try await world.create(["\(name)"], of: anna) }
            let (gate, arrived) = (Gate(), Gate())
            var configuration = PushConfiguration()
            configuration.entriesPerPass = 1
            let pipeline = PushPipeline(
                store: world.store, routes: [], clock: world.clock, now: { World.noon },
                makeUUID: Randomness.system.makeUUID, logger: world.log.logger,
                configuration: configuration,
                reached: { stage in
                    guard stage == .committed else { return }
                    arrived.open()
                    await gate.wait()
                }
            )
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await pipeline.run() }
                await arrived.wait()
                group.cancelAll()
                gate.open()
            }
            #expect(try await world.log(of: anna).count == 1)
            let left = try await world.store.read { try $0.outboxes(limit: 100) }
            #expect(left.map(\.entries.count) == [9])
            // The next start goes on.
            #expect(try await world.pipeline.drain() == 9)
        }
    }
}

/// Whom notifications are made for.
@Suite(.hangs) struct ReachableTests {
    private func subscribed(_ world: World) async throws -> Person {
        let anna = try await world.person("anna", isReachable: false)
        try await world.subscribe(anna, .query, type: "FeedItem")
        return anna
    }

    private func records(of person: Person, in world: World) async throws -> [String?] {
        try await world.log(of: person).map { try DeliveredPayload($0.payload).record }
    }

    @Test("H8: no notification is made for a user without a device; one with a device has them")
    func withoutDevice() async throws {
        try await World.run { world in
            let anna = try await subscribed(world)
            try await world.create(["before"], of: anna)
            #expect(try await world.pipeline.drain() == 0)
            // A device that comes before the pass is notified of the change before it.
            try await world.create(["waiting"], of: anna)
            _ = try await world.device("phone", of: anna)
            try await world.create(["after"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records(of: anna, in: world) == ["waiting", "after"])
        }
    }

    @Test("H8: the history has what a user's only device caused itself")
    func origin() async throws {
        try await World.run { world in
            let anna = try await subscribed(world)
            _ = try await world.device("phone", of: anna)
            try await world.create(["own"], of: anna, origin: "phone")
            _ = try await world.pipeline.drain()
            #expect(try await records(of: anna, in: world) == ["own"])
        }
    }

    @Test("H8: a webhook of the container gets pushes of users without devices, another's does not")
    func webhook() async throws {
        try await World.run { world in
            let anna = try await subscribed(world)
            let other = ContainerKey(
                container: World.container.container, environment: .production)
            _ = try await world.store.write(.everything) {
                try $0.createWebhook(
                    for: other, url: "https://receiver.example", secret: [1], at: World.noon)
            }
            try await world.create(["unheard"], of: anna)
            _ = try await world.pipeline.drain()
            _ = try await world.store.write(.everything) {
                try $0.createWebhook(
                    for: World.container, url: "https://receiver.example", secret: [1],
                    at: World.noon)
            }
            try await world.create(["heard"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records(of: anna, in: world) == ["heard"])
        }
    }

    @Test("H5: nothing is made for a disabled account; enabled again it gets what comes then")
    func disabled() async throws {
        try await World.run { world in
            let anna = try await subscribed(world)
            _ = try await world.device("phone", of: anna)
            try await world.store.write(.everything) { try $0.setDisabled(true, anna.user.account) }
            try await world.create(["while disabled"], of: anna)
            #expect(try await world.pipeline.drain() == 0)
            try await world.store.write(.everything) {
                try $0.setDisabled(false, anna.user.account)
            }
            try await world.create(["enabled"], of: anna)
            _ = try await world.pipeline.drain()
            #expect(try await records(of: anna, in: world) == ["enabled"])
        }
    }

    @Test("H5: nothing is made for a removed account, though a webhook listens")
    func removed() async throws {
        try await World.run { world in
            let anna = try await subscribed(world)
            try await world.store.write(.everything) { transaction in
                _ = try transaction.createWebhook(
                    for: World.container, url: "https://receiver.example", secret: [1],
                    at: World.noon)
                try transaction.removeAccount(anna.user.account, at: Instant(rawValue: 0))
            }
            try await world.create(["a"], of: anna)
            #expect(try await world.pipeline.drain() == 0)
            #expect(try await records(of: anna, in: world) == [])
        }
    }
}
