// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

/// Passes that fail, and passes at the same time.
@Suite(.hangs) struct CrashTests {
    @Test("PUSH-14: nothing is sent before the commit; a failed one is repeated without a trace")
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
            world.clock.advance(by: PushConfiguration().retry.first)
            #expect(try await world.pipeline.drain() == 1)
            #expect(try await stream.delivered(1).map(\.record) == ["a"])
            #expect(try await world.log(of: anna).count == 1)
        }
    }

    @Test("PUSH-7: a pass that is repeated gives the same notification IDs, which all differ")
    func repeatedPass() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            for id in ["s", "t"] {
                try await world.subscribe(anna, .query, id: id, type: "FeedItem")
            }
            try await world.subscribe(anna, .database, id: "all")
            for names in [["a", "b"], ["a"]] { try await world.create(names, of: anna) }
            var ids: [[String]] = []
            for _ in 0..<2 {
                let batch = try await world.readBatch()
                var plan = try #require(try world.pipeline.match(batch))
                world.pipeline.coalesce(&plan)
                ids.append(
                    world.pipeline.build(plan, batch).map(\.notification.notificationID))
                try await world.giveBack(batch)
            }
            #expect(ids[0] == ids[1])
            #expect(ids[0].count == 7)
            #expect(Set(ids[0]).count == 7)
            #expect(ids[0].allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.lowercased() })
            #expect(try await world.pipeline.drain() == 7)
            #expect(try await world.log(of: anna).map(\.notificationID) == ids[0])
        }
    }

    @Test("PUSH-14: drains at the same time share the work, nothing is sent twice or out of order")
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
            #expect(try await stream.delivered(30).map(\.record) == names)
        }
    }
}
