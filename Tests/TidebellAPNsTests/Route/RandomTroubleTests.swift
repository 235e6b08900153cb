// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellAPNs
import TidebellCore

@testable import TidebellTesting
import TidebellWire

@Suite("Random trouble with Apple's push service", .hangs)
struct RandomTroubleTests {
    private static let devices = 6
    private static let rounds = 25
    /// How many seeds: 4 unless `TIDEBELL_TEST_TROUBLES` says otherwise.
    private static let seeds =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_TROUBLES"].flatMap { UInt64($0) } ?? 4

    @Test(
        "PUSH-13, PUSH-14: whatever is answered and whenever we stop, each token gets every push in order",
        arguments: UInt64(1)...seeds
    )
    func nothingIsLost(seed: UInt64) async throws {
        print("seed \(seed)")
        let world = try await LaneWorld(seed: seed, devices: Self.devices)
        var random = SeededGenerator(seed: seed)
        var sent: [(id: String, origin: Int?)] = []
        for _ in 0..<Self.rounds {
            // A life of the server: some notifications, some time, and a stop at any
            // moment.
            let route = world.makeRoute(Self.tight)
            let run = Task { try await route.run() }
            for _ in 0..<random.next() % 4 {
                let batch = (0..<1 + random.next() % 3).map { index in
                    let dice = Int(random.next() % 8)
                    return (
                        id: "n\(sent.count + Int(index))",
                        origin: dice < Self.devices ? dice : nil
                    )
                }
                sent += batch
                try await world.append(batch)
                route.publish([], after: [:])
                await world.clock.advance(by: .milliseconds(Int64(random.next() % 5000)))
            }
            run.cancel()
            _ = await run.result
        }
        try await deliverAll(world)
        let taken = world.sender.taken
        for device in 0..<Self.devices {
            let expected = sent.filter { $0.origin != device }.map(\.id)
            var seen: Set<String> = []
            let firsts = (taken[LaneWorld.token(device)] ?? []).filter { seen.insert($0).inserted }
            #expect(firsts == expected, "device \(device)")
        }
        #expect(world.sender.mostUnderWay == 1)
        try await world.store.close()
    }

    /// Bounds so small that everything overflows.
    private static func tight(_ configuration: inout APNsConfiguration) {
        configuration.waitingTargets = 2
        configuration.requestsInFlight = 3
        configuration.notificationsPerPage = 2
        configuration.targetsPerClaim = 2
        configuration.failuresBeforePause = 3
    }

    /// Lets the push service work until nothing is pending.
    private func deliverAll(_ world: LaneWorld) async throws {
        world.sender.behave()
        let route = world.makeRoute(Self.tight)
        let run = Task { try await route.run() }
        while try await !world.pending().isEmpty {
            await world.clock.advance(by: .seconds(10))
        }
        run.cancel()
        _ = await run.result
    }

    @Test("without trouble nothing is sent twice, however often we stop gracefully")
    func noDuplicates() async throws {
        let world = try await LaneWorld(seed: 1, devices: 4)
        world.sender.behave()
        let ids = (0..<30).map { (id: "n\($0)", origin: Int?.none) }
        for start in stride(from: 0, to: ids.count, by: 5) {
            try await world.append(Array(ids[start..<start + 5]))
            let route = world.makeRoute()
            let run = Task { try await route.run() }
            try await eventually { try await world.pending().isEmpty }
            run.cancel()
            _ = await run.result
        }
        for device in 0..<4 {
            #expect(world.sender.taken[LaneWorld.token(device)] == ids.map(\.id))
        }
        try await world.store.close()
    }

    @Test("what the operator can put right is logged once, and that it works again too")
    func reportedOnce() async throws {
        let world = try await LaneWorld(seed: 3, devices: 6)
        try await world.append((0..<40).map { (id: "n\($0)", origin: Int?.none) })
        let route = world.makeRoute(Self.tight)
        let run = Task { try await route.run() }
        while world.sender.answerCount < 60 { await world.clock.advance(by: .seconds(30)) }
        world.sender.behave()
        while try await !world.pending().isEmpty {
            await world.clock.advance(by: .seconds(30))
        }
        run.cancel()
        _ = await run.result
        let troubles = world.log.lines.split(omittingEmptySubsequences: false) {
            $0.contains("go through again")
        }
        #expect(troubles.count > 1 && troubles.last == [])
        for trouble in troubles.dropLast() {
            #expect(!trouble.isEmpty && Set(trouble).count == trouble.count)
        }
        try await world.store.close()
    }

    @Test("every attempt is in the journal, in Apple's words")
    func journal() async throws {
        let world = try await LaneWorld(seed: 1, devices: 1)
        world.sender.behave(after: [
            .status(503, reason: "ServiceUnavailable"), .silence(.timedOut), .silence(.lost),
        ])
        try await world.append([(id: "n0", origin: nil)])
        let route = world.makeRoute()
        let run = Task { try await route.run() }
        while try await !world.pending().isEmpty { await world.clock.advance(by: .seconds(10)) }
        run.cancel()
        _ = await run.result
        let words = ["503 ServiceUnavailable", "timed out", "connection lost", "200"]
        #expect(try await world.journalled() == words.map { "device-0 apns \($0)" })
        try await world.store.close()
    }

    @Test("PUSH-10: that a token is of the other environment is in the journal, and logged once")
    func foreignTokens() async throws {
        let world = try await LaneWorld(seed: 1, devices: 0)
        try await world.addForeignToken()
        try await world.append([(id: "n0", origin: nil), (id: "n1", origin: nil)])
        let route = world.makeRoute()
        let run = Task { try await route.run() }
        try await eventually { try await world.pending().isEmpty }
        run.cancel()
        _ = await run.result
        #expect(
            try await world.journalled() == [
                "foreign apns not sent: the token is of APNs production"
            ]
        )
        #expect(world.log.lines.filter { $0.contains("other APNs environment") }.count == 1)
        #expect(world.sender.answerCount == 0)
        try await world.store.close()
    }

    @Test("a registration nobody can deliver to is logged once for each container")
    func noKey() async throws {
        let world = try await LaneWorld(seed: 1, devices: 0)
        let route = world.makeRoute { $0.apps = [] }
        let token = StoredPushToken(token: "aa", apnsEnvironment: .development, courier: nil)
        route.registered(token, in: LaneWorld.container)
        route.registered(token, in: LaneWorld.container)
        #expect(world.log.lines.count == 1)
        #expect(world.log.lines.first?.contains("no key for Apple's push service") == true)
        try await world.store.close()
    }
}
