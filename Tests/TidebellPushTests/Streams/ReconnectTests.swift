// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellWire

@Suite(.hangs) struct ReconnectTests {
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
            let batches = Batch.plan(count: 60, devices: 4, seed: seed)
            try await world.running {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await write(batches, by: anna, in: world, seed: seed) }
                    for (number, device) in devices.enumerated() {
                        let expected = batches.filter { $0.origin != device.clientID }
                            .flatMap(\.records)
                        group.addTask {
                            let delivered = try await follow(
                                device, in: world, expecting: expected.count,
                                seed: seed + UInt64(number)
                            )
                            #expect(delivered == expected, "seed \(seed), device \(number)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}

/// What one request creates; larger ones overflow the queues of streams.
private struct Batch {
    var records: [String]
    var origin: String?

    /// Batches of one to six records; every fifth by one of the devices, in turn.
    static func plan(count: Int, devices: Int, seed: UInt64) -> [Batch] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            Batch(
                records: (0..<Int.random(in: 1...6, using: &random)).map { "\(number)-\($0)" },
                origin: number.isMultiple(of: 5) ? "device-\(number / 5 % devices)" : nil
            )
        }
    }
}

private func write(
    _ batches: [Batch], by anna: Person, in world: World, seed: UInt64
) async throws {
    var random = SeededGenerator(seed: seed)
    for batch in batches {
        try await world.create(batch.records, of: anna, origin: batch.origin)
        for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
    }
}

/// Reads a device's stream, breaking it off at random and coming back with the
/// cursor of the last event.
private func follow(
    _ device: StoredDevice, in world: World, expecting count: Int, seed: UInt64
) async throws -> [String] {
    var random = SeededGenerator(seed: seed)
    var cursor = NotificationSequence.start
    var delivered: [String] = []
    while delivered.count < count {
        let stream = world.streams.open(device: device, after: cursor)
        var iterator = stream.makeAsyncIterator()
        let length = Int.random(in: 1...12, using: &random)
        for _ in 0..<length where delivered.count < count {
            guard let event = try await iterator.next() else { return delivered }
            #expect(event.sequence > cursor, "seed \(seed)")
            cursor = event.sequence
            delivered.append(try DeliveredPayload(event).record ?? "")
            for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
        }
    }
    return delivered
}
