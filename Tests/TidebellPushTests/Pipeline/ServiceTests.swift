// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush
import TidebellWire

@Suite(.hangs) struct ServiceTests {
    @Test("The commit wakes the pipeline: no timer is needed")
    func wokenByCommit() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            let stream = world.streams.open(
                device: try await world.device("phone", of: anna), after: .start)
            try await world.running {
                var iterator = stream.makeAsyncIterator()
                for name in ["a", "b", "c"] {
                    try await world.create([name], of: anna)
                    let event = try #require(try await iterator.next())
                    #expect(try DeliveredPayload(event).record == name)
                }
            }
        }
    }

    @Test("What was pending when the server stopped is delivered when it starts")
    func pendingAtStart() async throws {
        try await World.run(losesWakeUps: true) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            let phone = try await world.device("phone", of: anna)
            try await world.create(["a"], of: anna)
            let stream = world.streams.open(device: phone, after: .start)
            try await world.running {
                let delivered = try await stream.delivered(1)
                #expect(delivered.map(\.record) == ["a"])
            }
        }
    }

    @Test("A lost wake-up delays a push by the poll interval, no more")
    func lostWakeUp() async throws {
        try await World.run(losesWakeUps: true) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            let stream = world.streams.open(
                device: try await world.device("phone", of: anna), after: .start)
            let interval = PushConfiguration().pollInterval
            try await world.running {
                await world.clock.waitForSleeper(of: interval)
                try await world.create(["a"], of: anna)
                world.clock.advance(by: interval)
                let delivered = try await stream.delivered(1)
                #expect(delivered.map(\.record) == ["a"])
            }
        }
    }

    @Test("An idle pipeline rests: it reads when woken, and otherwise at the poll interval")
    func idle() async throws {
        try await World.run { world in
            let interval = PushConfiguration().pollInterval
            try await world.running {
                await world.clock.waitForSleeper(of: interval)
                await eventually { world.store.reads >= 1 }
                await letOthersRun()
                #expect(world.store.reads == 1)
                world.clock.advance(by: interval)
                await eventually { world.store.reads >= 2 }
                await letOthersRun()
                #expect(world.store.reads == 2)
            }
        }
    }

    @Test(
        "A failing store, or a database that fails, is reported once and tried again; nothing is lost",
        arguments: [true, false]
    )
    func failingStore(ofTheStore: Bool) async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            let phone = try await world.device("phone", of: anna)
            try await world.create(["a"], of: anna)
            let stream = world.streams.open(device: phone, after: phone.acknowledged)
            world.store.fail(
                writes: 3,
                with: ofTheStore
                    ? StoreUnavailable(.diskIsFull, detail: "full") : ObservedStore.Failure()
            )
            try await world.running {
                for wait in [100, 200, 400] {
                    await world.clock.waitForSleeper(of: .milliseconds(wait))
                    world.clock.advance(by: .milliseconds(wait))
                }
                let delivered = try await stream.delivered(1)
                #expect(delivered.map(\.record) == ["a"])
                await eventually { world.log.entries.count >= 2 }
            }
            #expect(world.log.lines == (ofTheStore ? Self.storeTrouble : Self.databaseTrouble))
        }
    }

    private static let storeTrouble = [
        "warning: push pipeline failed; pushes wait in the outbox and are tried again",
        "notice: push pipeline works again",
    ]

    private static let databaseTrouble = [
        "warning: the push pipeline fails for the changes of a database; its pushes wait and are tried again",
        "notice: the push pipeline works again for the changes of a database",
    ]

    @Test("The waits between tries double up to a bound")
    func retryDelays() {
        let configuration = PushConfiguration()
        let waits = [1, 2, 3, 4, 9, 10, 100, 10_000].map { configuration.retry.wait(after: $0) }
        #expect(
            waits == [
                .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800),
                .milliseconds(25_600), .seconds(30), .seconds(30), .seconds(30),
            ]
        )
    }

    @Test("PUSH-2: with a coalescing window changes close together make one push")
    func coalescingWindow() async throws {
        try await World.run({ $0.coalescingWindow = .seconds(1) }) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .database)
            let stream = world.streams.open(
                device: try await world.device("phone", of: anna), after: .start)
            try await world.running {
                await world.clock.waitForSleeper(of: .seconds(1))
                for zone in ["1", "2", "3"] {
                    try await world.create(["a"], of: anna, zone: zone)
                }
                world.clock.advance(by: .seconds(1))
                let delivered = try await stream.delivered(1)
                #expect(delivered.map(\.zone) == ["3"])
            }
            #expect(try await world.log(of: anna).count == 1)
        }
    }

    @Test("A graceful shutdown ends the service")
    func gracefulShutdown() async throws {
        try await World.run { world in
            let group = ServiceGroup(
                services: [world.pipeline], logger: Logger(label: "test")
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                await world.clock.waitForSleeper(of: PushConfiguration().pollInterval)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }
}
