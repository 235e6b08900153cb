// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellTesting
import TidebellWebhooks
import TidebellWire

@Suite("Webhook deliveries", .hangs)
struct WebhookRouteTests {
    @Test("A webhook gets what is pushed after it was added, in the order of the user's log, once")
    func delivers() async throws {
        try await World.run { world in
            try await world.push(["before"])
            let webhook = try await world.webhook()
            try await world.running { route in
                let first = try await world.push(["a", "b", "c"])
                try await world.waitUntilDelivered(webhook, first[2])
                let second = try await world.push(["d"])
                route.publish(second, after: [:])
                try await world.waitUntilDelivered(webhook, second[0])
            }
            #expect(world.receiver.arrived == ["a", "b", "c", "d"])
            #expect(world.log.lines.isEmpty)
        }
    }

    @Test("Receivers get devices by the IDs that records have, never by client IDs")
    func sealedDevices() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            try await world.store.write(.everything) { transaction in
                for client in ["phone", "pad"] {
                    _ = try transaction.registerDevice(
                        clientID: client, user: world.anna.id, container: World.container,
                        at: World.noon
                    )
                }
            }
            let pushed = try await world.push(["a"], from: "phone")
            try await world.running { _ in
                try await world.waitUntilDelivered(webhook, pushed[0])
            }
            let body = String(
                decoding: try #require(world.receiver.messages.first).body, as: UTF8.self
            )
            #expect(
                body.contains(
                    #""originDevice":"phone of _anna","devices":[{"deviceID":"pad of _anna","#
                        + #""pushTokens":[]}]"#
                )
            )
        }
    }

    @Test("H5: receivers get no push tokens of sessions that have ended")
    func endedSessions() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            try await world.store.write(.everything) { transaction in
                for (name, lasting) in [("phone", 60), ("pad", 0)] {
                    let session = SessionID(rawValue: name)
                    try transaction.putWebToken(
                        StoredWebToken(
                            account: world.anna.account,
                            expiresAt: World.noon.advanced(by: .seconds(lasting)),
                            session: session, origin: .device),
                        hash: Array(name.utf8)
                    )
                    let device = try transaction.registerDevice(
                        clientID: name, user: world.anna.id, container: World.container,
                        at: World.noon
                    )
                    try transaction.putPushToken(
                        StoredPushToken(
                            token: "token-of-\(name)", apnsEnvironment: .development, courier: nil),
                        notifying: device.key, in: session
                    )
                }
            }
            let pushed = try await world.push(["a"])
            try await world.running { _ in
                try await world.waitUntilDelivered(webhook, pushed[0])
            }
            let body = String(
                decoding: try #require(world.receiver.messages.first).body, as: UTF8.self
            )
            #expect(body.contains("token-of-phone"))
            #expect(!body.contains("token-of-pad"))
        }
    }

    @Test("A webhook gets pushes of its own container and environment only")
    func otherContainers() async throws {
        try await World.run { world in
            let production = ContainerKey(
                container: World.container.container, environment: .production
            )
            let live = try await world.store.write(.everything) { transaction in
                try transaction.makeUser(
                    of: world.anna.account, in: production, recordName: "_live",
                    at: Instant(rawValue: 0)
                )
            }
            let webhook = try await world.webhook()
            let liveHook = try await world.webhook(in: production)
            try await world.running { _ in
                let own = try await world.push(["own"])
                let other = try await world.push(["live"], to: live)
                try await world.passUntilDelivered(webhook, own[0])
                try await world.passUntilDelivered(liveHook, other[0])
            }
            #expect(Set(world.receiver.arrived) == ["own", "live"])
            #expect(world.receiver.arrived.count == 2)
        }
    }

    @Test("No more users than the window have a push under way, and each goes on by itself")
    func window() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, _ in id == "0" ? .hold : .answer(200) }
            let pushed = try await world.push(toOneEach: (0..<20).map(String.init))
            try await world.running({ $0.window = 4 }) { _ in
                await eventually { world.receiver.arrived.count == 20 }
                for push in pushed.dropFirst() {
                    try await world.waitUntilDelivered(webhook, push)
                }
                world.receiver.release()
                try await world.waitUntilDelivered(webhook, pushed[0])
            }
            #expect(world.receiver.mostUnderWay <= 4)
            // Users have no order among themselves.
            #expect(world.receiver.arrived.compactMap { Int($0) }.sorted() == Array(0..<20))
        }
    }

    @Test("All that is under way at a time is the window, however slow the receiver")
    func windowOfHeld() async throws {
        try await World.run { world in
            _ = try await world.webhook()
            world.receiver.react { _, _ in .hold }
            try await world.push(toOneEach: (0..<20).map(String.init))
            try await world.running({ $0.window = 4 }) { _ in
                await eventually { world.receiver.underWay == 4 }
                await letOthersRun()
                #expect(world.receiver.arrived.count == 4)
                world.receiver.react { _, _ in .answer(200) }
            }
        }
    }

    @Test("A webhook added or removed while the server runs is noticed within the poll interval")
    func comesAndGoes() async throws {
        try await World.run { world in
            try await world.running { route in
                // The route has looked for webhooks once.
                await eventually { !world.clock.deadlines.isEmpty }
                let webhook = try await world.webhook()
                let pushed = try await world.push(["a"])
                try await world.passUntilDelivered(webhook, pushed[0])
                _ = try await world.store.write(.everything) { try $0.removeWebhook(webhook.id) }
                route.publish(try await world.push(["b"]), after: [:])
                // The next one is added by a look that also woke the first.
                let next = try await world.webhook(to: "https://other.example")
                let later = try await world.push(["c"])
                try await world.passUntilDelivered(next, later[0])
                #expect(world.receiver.arrived == ["a", "c"])
            }
        }
    }

    @Test("After a restart a webhook goes on where it was; what was under way comes again")
    func restart() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, number in
                id == "b" && number == 1 ? .holdAndFail : .answer(200)
            }
            let pushed = try await world.push(["a", "b"])
            try await world.running { _ in
                await eventually { world.receiver.arrived.count == 2 }
            }
            try await world.running { _ in try await world.waitUntilDelivered(webhook, pushed[1]) }
            let repeated = world.receiver.messages.filter { $0.id == "b" }
            try #require(repeated.count == 2)
            #expect(Set(repeated.map(\.id)) == ["b"])
            #expect(repeated[0].body == repeated[1].body)
        }
    }

    @Test("Of a user with many pushes no more than a page is posted before others have their turn")
    func turns() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            let many = try await world.push((0..<12).map { "a\($0)" })
            let one = try await world.push(toOneEach: ["b"])
            try await world.running({
                $0.window = 1
                $0.notificationsPerPage = 4
            }) { _ in
                for push in many + one { try await world.waitUntilDelivered(webhook, push) }
            }
            #expect(
                world.receiver.arrived
                    == (0..<4).map { "a\($0)" } + ["b"] + (4..<12).map { "a\($0)" }
            )
        }
    }

    @Test("Of two routes on one store each user's pushes are delivered by one at a time, in order")
    func twoRoutes() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            var pushed: [StoredNotification] = []
            for number in 0..<20 {
                pushed += try await world.push(["x\(number)"])
                pushed += try await world.push(toOneEach: ["y\(number)"])
            }
            try await world.running { _ in
                try await world.running { _ in
                    for push in pushed { try await world.waitUntilDelivered(webhook, push) }
                }
            }
            let arrived = world.receiver.arrived
            #expect(arrived.filter { $0.hasPrefix("x") } == (0..<20).map { "x\($0)" })
            #expect(arrived.count == 40)
        }
    }
}
