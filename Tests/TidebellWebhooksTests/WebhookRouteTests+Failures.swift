// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellTesting
import TidebellWebhooks
import TidebellWire

/// Receivers that fail, refuse, are away or are gone.
extension WebhookRouteTests {
    @Test("A failure in passing holds nobody up: it is tried again soon, first, and not logged")
    func stumbles() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, attempt in
                id == "5" && attempt < 4 ? .answer(500) : .answer(200)
            }
            let pushed = try await world.push(toOneEach: (0..<40).map(String.init))
            try await world.running({ $0.window = 4 }) { _ in
                // All others come while it waits.
                await eventually { Set(world.receiver.arrived).count == 40 }
                #expect(world.receiver.arrived.count { $0 == "5" } == 1)
                for tries in 2...4 {
                    await world.passWait(of: .milliseconds(50 << (tries - 2)))
                    await eventually { world.receiver.arrived.count { $0 == "5" } == tries }
                }
                for push in pushed { try await world.waitUntilDelivered(webhook, push) }
            }
            #expect(world.receiver.arrived.count == 43)
            #expect(world.log.lines.isEmpty)
        }
    }

    @Test("An outage of a day loses nothing, is logged once, and costs few tries")
    func outage() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { _, _ in .unreachable }
            let pushed = try await world.push(toOneEach: ["a", "b", "c"])
            try await world.running { _ in
                // The first that fails may keep the others from being tried.
                try await world.passUntil { Set(world.receiver.arrived).count == 3 }
                await world.clock.advance(by: .seconds(24 * 3600))
                #expect(world.receiver.arrived.count < 24 * 3600 / 140)
                world.receiver.react { _, _ in .answer(200) }
                for push in pushed { try await world.passUntilDelivered(webhook, push) }
            }
            // Users have no order among themselves.
            #expect(world.receiver.arrived.suffix(3).sorted() == ["a", "b", "c"])
            #expect(
                world.log.lines == [
                    "warning: a webhook fails; its pushes wait in the log and are tried again",
                    "notice: a webhook works again",
                ]
            )
        }
    }

    @Test("While a receiver fails it is asked with one push at a time")
    func probes() async throws {
        try await World.run { world in
            _ = try await world.webhook()
            world.receiver.react { _, _ in .answer(503) }
            try await world.push(toOneEach: (0..<20).map(String.init))
            try await world.running({
                $0.retry = Backoff(first: .seconds(1), longest: .seconds(4), spread: .shorter)
            }) { _ in
                try await world.passUntil { world.receiver.arrived.count > 40 }
            }
            // The others were under way already when two had failed, and the first was about to be
            // tried again; then each has its turn, in each part of an engine that has several.
            #expect(world.receiver.underWayAtArrival.dropFirst(8).allSatisfy { $0 == 1 })
            #expect(Set(world.receiver.arrived.prefix(40)).count == 20)
        }
    }

    @Test("A receiver that fails the pushes of one user alone does not count as failing")
    func failsForOneUser() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, _ in id == "bad" ? .answer(500) : .answer(200) }
            try await world.push(["bad"])
            try await world.running { route in
                try await world.passUntil { world.receiver.arrived.count > 20 }
                let later = try await world.push(toOneEach: ["later"])
                route.publish(later, after: [:])
                try await world.waitUntilDelivered(webhook, later[0])
            }
            #expect(world.receiver.arrived.count { $0 == "later" } == 1)
            #expect(
                world.log.lines == [
                    "warning: a webhook's receiver fails the pushes of one user; they wait and are "
                        + "tried again"
                ]
            )
        }
    }

    @Test("A push is skipped for its own refusals, not for those of what it replaced")
    func refusedThenReplaced() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, number in
                id == "old" || number == 1 ? .answer(400) : .answer(200)
            }
            try await world.push(["old"], collapse: "c")
            try await world.running({
                $0.triesOfRefused = 3
                $0.quickTries = 0
            }) { route in
                try await world.passUntil { world.receiver.arrived.count == 2 }
                let new = try await world.push(["new"], collapse: "c")
                route.publish(new, after: [:])
                try await world.passUntilDelivered(webhook, new[0])
            }
            #expect(world.receiver.arrived == ["old", "old", "new", "new"])
        }
    }

    @Test("Retry-After is kept to")
    func retryAfter() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { _, number in
                number == 1 ? .answer(429, retryAfter: "600") : .answer(200)
            }
            let pushed = try await world.push(["a"])
            try await world.running { _ in
                let answered = world.clock.now
                await eventually {
                    world.clock.deadlines.contains { $0 >= answered.advanced(by: .seconds(600)) }
                }
                await world.clock.advance(by: .seconds(599))
                #expect(world.receiver.arrived.count == 1)
                try await world.passUntilDelivered(webhook, pushed[0])
            }
            #expect(world.receiver.arrived == ["a", "a"])
        }
    }

    @Test("What was delivered beside a failing push is not posted again")
    func noRepetition() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, number in
                id == "b" && number <= 3 ? .answer(500) : .answer(200)
            }
            let pushed = try await world.push(toOneEach: ["a", "b", "c", "d"])
            try await world.running { _ in
                for push in pushed { try await world.passUntilDelivered(webhook, push) }
            }
            #expect(world.receiver.arrived.sorted() == ["a", "b", "b", "b", "b", "c", "d"])
        }
    }

    @Test("A push that its receiver refuses again and again is skipped, with an error in the log")
    func poison() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, _ in id == "bad" ? .answer(400) : .answer(200) }
            let pushed = try await world.push(["a", "bad", "c"])
            try await world.running({ $0.triesOfRefused = 3 }) { _ in
                await eventually { world.receiver.arrived.contains("bad") }
                try await world.passUntilDelivered(webhook, pushed[2])
                let more = try await world.push(["d"])
                try await world.passUntilDelivered(webhook, more[0])
            }
            #expect(world.receiver.arrived.count { $0 == "bad" } == 3)
            #expect(world.receiver.arrived.count { $0 == "c" } == 1)
            #expect(
                world.log.lines.contains(
                    "error: a webhook's receiver refuses a push; it was skipped")
            )
        }
    }

    @Test("410 disables a webhook, once; enabled again it goes on where it stopped")
    func gone() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { _, _ in .answer(410) }
            let pushed = try await world.push(["a"])
            try await world.running { _ in
                try await eventually {
                    try await world.stored(webhook)?.disabledReason != nil
                }
                #expect(
                    try await world.stored(webhook)?.disabledReason
                        == "the receiver answered 410 Gone"
                )
                await world.clock.advance(by: .seconds(600))
                #expect(world.receiver.arrived == ["a"])
                world.receiver.react { _, _ in .answer(200) }
                try await world.store.write(.everything) {
                    try $0.setWebhook(webhook.id, disabledBecause: nil)
                }
                try await world.passUntilDelivered(webhook, pushed[0])
            }
            #expect(world.receiver.arrived == ["a", "a"])
            #expect(
                world.log.lines == [
                    "warning: a webhook was disabled: its receiver answered 410 Gone"
                ]
            )
        }
    }

    @Test("PUSH-2: a background push that was replaced during an outage is not posted any more")
    func replaced() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { _, _ in .unreachable }
            try await world.push(["old"], collapse: "c")
            try await world.running { _ in
                await eventually { world.receiver.arrived.count == 1 }
                let newer = try await world.push(["new"], collapse: "c")
                world.receiver.react { _, _ in .answer(200) }
                try await world.passUntilDelivered(webhook, newer[0])
            }
            #expect(world.receiver.arrived == ["old", "new"])
        }
    }

    @Test("NOTIF-15: what left the log during an outage is not posted any more")
    func retention() async throws {
        try await World.run { world in
            _ = try await world.webhook()
            world.receiver.react { _, _ in .unreachable }
            try await world.push(["old"])
            try await world.running { _ in
                await eventually { world.receiver.arrived.count == 1 }
                _ = try await world.store.write(.everything) {
                    try $0.removeNotifications(
                        createdBefore: World.noon.advanced(by: .seconds(1)), limit: 9
                    )
                }
                world.receiver.react { _, _ in .answer(200) }
                await world.clock.advance(by: .seconds(3600))
                #expect(world.receiver.arrived == ["old"])
            }
        }
    }

    @Test("A user whose pushes a receiver fails is postponed, and delays no other user")
    func failingUser() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            world.receiver.react { id, _ in id.hasPrefix("bad") ? .answer(500) : .answer(200) }
            let good = try await world.push(toOneEach: (0..<5).map { "good\($0)" })
            try await world.running { route in
                for push in good { try await world.waitUntilDelivered(webhook, push) }
                let bad = try await world.push(["bad1", "bad2"])
                route.publish(bad, after: [:])
                // Five more tries at once, then it waits for longer than all these took.
                await eventually { world.receiver.arrived.count == 6 }
                for tries in 2...6 {
                    await world.passWait(of: .milliseconds(50 << (tries - 2)))
                    await eventually { world.receiver.arrived.count { $0 == "bad1" } == tries }
                }
                await eventually {
                    world.log.lines.contains {
                        $0.hasPrefix("warning: a webhook's receiver fails the pushes of one user")
                    }
                }
                for number in 0..<20 {
                    let push = try await world.push(toOneEach: ["later\(number)"])[0]
                    route.publish([push], after: [:])
                    try await world.waitUntilDelivered(webhook, push)
                }
                #expect(world.receiver.arrived.count { $0 == "bad1" } == 6)
                world.receiver.react { _, _ in .answer(200) }
                try await world.passUntilDelivered(webhook, bad[1])
            }
            // In order, and no other twice.
            let bads = world.receiver.arrived.filter { $0.hasPrefix("bad") }
            #expect(bads.suffix(2) == ["bad1", "bad2"])
            #expect(!world.receiver.arrived.dropLast().contains("bad2"))
            #expect(Set(world.receiver.arrived).count == 27)
            #expect(world.receiver.arrived.count { !$0.hasPrefix("bad") } == 25)
        }
    }
}
