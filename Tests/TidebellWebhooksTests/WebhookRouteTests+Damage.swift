// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWebhooks

extension WebhookRouteTests {
    @Test("A position beyond the log, as damage leaves it, counts as its end")
    func damagedPosition() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            try await world.store.write(.everything) {
                try $0.advanceWebhook(webhook.id, upTo: NotificationSequence(rawValue: .max))
            }
            try await world.push(["before"])
            try await world.running { route in
                var pushed = 0
                try await world.passUntil {
                    pushed += 1
                    route.publish(try await world.push(["after\(pushed)"]), after: [:])
                    return !world.receiver.arrived.isEmpty
                }
            }
            #expect(!world.receiver.arrived.contains("before"))
        }
    }
}
