// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellTesting
import TidebellWebhooks

extension WebhookRouteTests {
    @Test("Turns that end while others are saved take nobody's place, and are saved together")
    func savedTogether() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            let pushed = try await world.push(toOneEach: (0..<20).map(String.init))
            let parts = world.store.parts(of: Set(pushed.map(\.user))).count
            let store = WatchedStore(world.store)
            store.hold()
            try await world.running(store: store, { $0.window = 4 }) { _ in
                await eventually { world.receiver.arrived.count == 20 }
                await eventually { world.receiver.underWay == 0 }
                await letOthersRun()
                store.release()
                for push in pushed { try await world.waitUntilDelivered(webhook, push) }
            }
            // In an engine of several parts, each has its own.
            #expect((2...2 * parts).contains(store.writes))
            #expect(Set(world.receiver.arrived).count == 20 && world.receiver.mostUnderWay <= 4)
        }
    }

    @Test("No more turns wait to be saved than the configuration has")
    func boundOfUnsaved() async throws {
        try await World.run { world in
            _ = try await world.webhook()
            try await world.push(toOneEach: (0..<20).map(String.init))
            let store = WatchedStore(world.store)
            store.hold()
            try await world.running(
                store: store,
                {
                    $0.window = 4
                    $0.turnsPerSave = 6
                }
            ) { _ in
                await eventually { world.receiver.arrived.count == 10 }
                await letOthersRun()
                #expect(world.receiver.arrived.count == 10)
                store.release()
                await eventually { world.receiver.arrived.count == 20 }
            }
        }
    }

    @Test("What was delivered when a route stops is not posted again", arguments: [false, true])
    func savedAtTheEnd(isAnswered: Bool) async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, number in
                guard id == "c", number == 1 else { return .answer(200) }
                return isAnswered ? .hold : .holdAndFail
            }
            let pushed = try await world.push(["a", "b", "c"])
            try await world.running { _ in
                await eventually { world.receiver.arrived.count == 3 }
            }
            try await world.running { _ in try await world.waitUntilDelivered(webhook, pushed[2]) }
            #expect(world.receiver.arrived == ["a", "b", "c"] + (isAnswered ? [] : ["c"]))
        }
    }

    @Test("What was delivered is saved within 100 ms, however long the backlog of a user is")
    func savedMeanwhile() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, _ in id == "a" ? .answer(200) : .hold }
            let pushed = try await world.push(["a", "b", "c", "d"])
            try await world.running { _ in
                await eventually { world.receiver.arrived == ["a", "b"] }
                await world.clock.advance(by: .milliseconds(100))
                world.receiver.release()
                // The one behind it is under way, and not answered.
                await eventually { world.receiver.arrived == ["a", "b", "c"] }
                try await world.waitUntilDelivered(webhook, pushed[1])
            }
        }
    }

    @Test("Who was delivered something before a push failed waits as after a first failure")
    func failuresAfterProgress() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { _, number in number < 3 ? .answer(500) : .answer(200) }
            let pushed = try await world.push(["a", "b"])
            let store = WatchedStore(world.store)
            try await world.running(store: store, { $0.quickTries = 0 }) { _ in
                try await world.passUntilDelivered(webhook, pushed[1])
            }
            let failures = store.returned.compactMap { item in
                if case .failed = item.outcome { item.lease.failures } else { nil }
            }
            #expect(failures == [0, 1, 0, 1])
            #expect(world.receiver.arrived == ["a", "a", "a", "b", "b", "b"])
        }
    }

    @Test("What comes for a user while the turn is being saved is delivered at once")
    func wokeWhileSaving() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            try await world.push(["a"])
            let store = WatchedStore(world.store)
            try await world.running(store: store) { route in
                store.beforeReturn {
                    // Passed over by this claim, since the lease is not given back yet.
                    let claims = store.claims
                    route.publish(try await world.push(["b"]), after: [:])
                    await eventually { store.claims > claims }
                }
                await eventually { world.receiver.arrived == ["a", "b"] }
            }
            #expect(try await world.store.read { try $0.webhook(webhook.id) } == webhook)
        }
    }

    @Test("A user whose own lease vests while a push is under way has no second one beside it")
    func ownLeaseVests() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, number in id == "a" && number == 1 ? .hold : .answer(200) }
            let pushed = try await world.push(["a", "b"])
            let store = WatchedStore(world.store)
            try await world.running(store: store, { $0.requestTimeout = .seconds(1) }) { route in
                await eventually { world.receiver.underWay == 1 }
                await world.clock.advance(by: .seconds(40))
                let claims = store.claims
                route.publish([], after: [:])
                await eventually { store.claims > claims }
                await letOthersRun()
                #expect(world.receiver.arrived == ["a"])
                world.receiver.release()
                try await world.waitUntilDelivered(webhook, pushed[1])
            }
            #expect(world.receiver.arrived == ["a", "b"])
        }
    }

    @Test("However often users are postponed, few timers wait for them")
    func alarms() async throws {
        try await World.run { world in
            _ = try await world.webhook()
            world.receiver.react { id, _ in id.hasPrefix("good") ? .answer(200) : .answer(500) }
            try await world.push(toOneEach: ["bad", "worse"])
            try await world.running({ $0.quickTries = 0 }) { route in
                for number in 0..<40 {
                    // So that the receiver does not count as failing.
                    route.publish(try await world.push(toOneEach: ["good\(number)"]), after: [:])
                    try await world.passUntil { world.receiver.arrived.contains("good\(number)") }
                    await world.clock.advance(by: .seconds(3))
                }
                // That of the route, and of those who are postponed and held.
                #expect(world.clock.deadlines.count < 10)
            }
        }
    }
}
