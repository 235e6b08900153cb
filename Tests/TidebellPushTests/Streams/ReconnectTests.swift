// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.timeLimit(.minutes(1))) struct ReconnectTests {
    @Test(
        "PUSH-13: devices that come and go while others write get everything once, in order",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64]
    )
    func noGapNoDuplicate(seed: UInt64) async throws {
        try await World.run({
            $0.waitingPerStream = 3
            $0.notificationsPerPage = 4
            $0.entriesPerPass = 5
        }) { world in
            let anna = try await world.person("anna")
            try await world.subscribe(anna, .query, type: "FeedItem")
            var devices: [StoredDevice] = []
            for number in 0..<4 {
                devices.append(try await world.device("device-\(number)", of: anna))
            }
            let total = 120
            try await world.running {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await write(total, by: anna, in: world, seed: seed) }
                    for (number, device) in devices.enumerated() {
                        group.addTask {
                            let told = try await follow(
                                device, in: world, expecting: total - total / 10,
                                seed: seed + UInt64(number))
                            let own = (0..<total).filter { $0 % 10 == 0 && $0 / 10 % 4 == number }
                            let expected = (0..<total).filter { !own.contains($0) }
                            #expect(
                                Array(told) == expected.prefix(told.count).map { "item-\($0)" },
                                "seed \(seed), device \(number)"
                            )
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}

/// Writes records; every tenth by one of the devices themselves, in turn.
private func write(_ total: Int, by anna: Person, in world: World, seed: UInt64) async throws {
    var random = SplitMix(state: seed)
    for number in 0..<total {
        let origin = number % 10 == 0 ? "device-\(number / 10 % 4)" : nil
        try await world.create(["item-\(number)"], of: anna, origin: origin)
        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
    }
}

/// Reads a device's stream, breaking it off at random and coming back with the
/// cursor of the last event.
private func follow(
    _ device: StoredDevice, in world: World, expecting count: Int, seed: UInt64
) async throws -> [String] {
    var random = SplitMix(state: seed)
    var cursor = NotificationSequence.start
    var told: [String] = []
    while told.count < count {
        let stream = world.streams.open(device: device, after: cursor)
        var iterator = stream.makeAsyncIterator()
        let length = Int.random(in: 1...12, using: &random)
        for _ in 0..<length where told.count < count {
            guard let event = try await iterator.next() else { return told }
            #expect(event.sequence > cursor, "seed \(seed)")
            cursor = event.sequence
            told.append(try Told(event).record ?? "")
            for _ in 0..<Int.random(in: 0..<30, using: &random) { await Task.yield() }
        }
    }
    return told
}

/// SplitMix64: small, seedable, the same everywhere.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
