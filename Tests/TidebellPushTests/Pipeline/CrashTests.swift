// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

/// A process that dies between two stages, and what the next one makes of it.
@Suite(.timeLimit(.minutes(1))) struct CrashTests {
    /// The stages after which the process dies.
    enum Stage: CaseIterable { case change, read, match, build, commit, publish }

    @Test(
        "PUSH-14, PUSH-13: after a crash at any stage a change is told exactly once",
        arguments: Stage.allCases)
    func crash(after stage: Stage) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a", "b"], of: anna)
            let ids = try await world.run(until: stage)

            let next = try await world.restarted()
            let stream = next.streams.open(device: phone, after: phone.acknowledged)
            _ = try await next.pipeline.drain()
            let told = try await stream.told(2)
            #expect(told.map(\.record) == ["a", "b"])
            // Once committed, the notification ID is settled.
            if let ids { #expect(told.compactMap(\.notificationID) == ids) }
            #expect(try await next.log(of: anna).count == 2)
            #expect(try await next.pipeline.drain() == 0)
            try await next.store.close()
        }
    }

    @Test("PUSH-14: nothing is told before the commit; a failed one is repeated without a trace")
    func failedCommit() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            try await world.create(["a"], of: anna)
            let stream = world.streams.open(device: phone, after: .start)

            world.store.fail(writes: 1)
            await #expect(throws: ObservedStore.Failure.self) { try await world.pipeline.drain() }
            #expect(try await world.log(of: anna) == [])
            #expect(try await world.pipeline.drain() == 1)
            #expect(try await stream.told(1).map(\.record) == ["a"])
            #expect(try await world.log(of: anna).count == 1)
        }
    }

    @Test("PUSH-14: drains at the same time share the work, nothing is told twice or out of order")
    func concurrentDrains() async throws {
        try await World.run({ $0.entriesPerPass = 2 }) { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .query, type: "FeedItem")
            let names = (0..<30).map { "item-\($0)" }
            for name in names { try await world.create([name], of: anna) }
            let stream = world.streams.open(device: phone, after: .start)
            let count = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await world.pipeline.drain() } }
                return try await group.reduce(0, +)
            }
            #expect(count == 30)
            #expect(try await stream.told(30).map(\.record) == names)
        }
    }
}

extension World {
    /// Goes through the pipeline's stages until one, and returns the IDs of what
    /// is committed then.
    fileprivate func run(until last: CrashTests.Stage) async throws -> [String]? {
        if last == .change { return nil }
        let batch = try await pipeline.read()
        if last == .read { return nil }
        var plan = try #require(pipeline.match(batch))
        pipeline.coalesce(&plan)
        if last == .match { return nil }
        let notifications = pipeline.build(plan, batch)
        if last == .build { return nil }
        let stored = try await pipeline.commit(notifications, plan)
        if last == .publish { pipeline.publish(stored) }
        return stored.map(\.notificationID)
    }
}
