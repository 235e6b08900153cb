// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWebhooks

extension WebhookRouteTests {
    @Test("A cursor beyond the log, as damage leaves it, counts as its end")
    func damagedPosition() async throws {
        try await World.run { world in
            let webhook = try await world.webhook()
            try await world.push(["before"])
            try await world.store.write(.user(world.anna.id)) {
                _ = try $0.advanceWebhook(
                    webhook.id, to: [world.anna.id: NotificationSequence(rawValue: .max)]
                )
            }
            let after = try await world.push(["after"])
            try await world.running { _ in
                try await world.waitUntilDelivered(webhook, after[0])
            }
            #expect(world.receiver.arrived == ["after"])
        }
    }
}
