// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.hangs) struct MetricsTests {
    @Test("What is built, pruned, merged and delivered is counted")
    func counters() async throws {
        try await World.run { world in
            let anna = try await world.person("anna")
            let phone = try await world.device("phone", of: anna)
            try await world.subscribe(anna, .database, id: "all")
            try await world.subscribe(
                anna, .query, id: "long", type: "FeedItem",
                info: .visual(String(repeating: "x", count: 5000)))
            try await world.create(["a"], of: anna, zone: "1")
            try await world.create(["b"], of: anna, zone: "2")
            let stream = world.streams.open(device: phone, after: .start)
            #expect(try await world.pipeline.drain() == 3)
            #expect(try await stream.delivered(2).count == 2)
            withExtendedLifetime(stream) {
                let expected: [String: Double] = [
                    "tidebell.push.notifications.built": 3,
                    "tidebell.push.notifications.pruned": 2,
                    "tidebell.push.notifications.coalesced": 1,
                    "tidebell.push.outbox.depth": 0,
                    "tidebell.push.outbox.lag.seconds": 0,
                    "tidebell.push.deliveries stream": 2,
                    "tidebell.push.streams.open": 1,
                ]
                #expect(world.tally.values == expected)
            }
        }
    }
}
