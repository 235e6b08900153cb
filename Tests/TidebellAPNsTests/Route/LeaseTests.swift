// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellAPNs
import TidebellCore
import TidebellTestStores

@testable import TidebellTesting

@Suite("Targets of Apple's push service are claimed", .hangs)
struct LeaseTests {
    @Test("a container whose queue cannot be read holds up no other")
    func failingQueue() async throws {
        let world = try await LaneWorld(seed: 1, devices: 1)
        world.sender.behave()
        try await world.append([(id: "n0", origin: nil)])
        let route = world.makeRoute(on: OneReadableQueue(base: world.store)) { configuration in
            let app = configuration.apps[0]
            configuration.apps += (0..<20).map { number in
                .init(
                    container: "other\(number)", topic: app.topic, credentials: app.credentials)
            }
        }
        let run = Task { try await route.run() }
        try await eventually { try await world.pending().isEmpty }
        run.cancel()
        _ = await run.result
        #expect(world.sender.taken == [LaneWorld.token(0): ["n0"]])
        try await world.store.close()
    }

    @Test("after a rest a target is sent to by who claims it, not by who sent to it before")
    func claimedByOthers() async throws {
        let world = try await LaneWorld(seed: 1, devices: 1)
        world.sender.behave(after: [.status(429, reason: "TooManyRequests")])
        try await world.append([(id: "n0", origin: nil)])
        let store = OthersFirst(world.store)
        let route = world.makeRoute(on: store)
        let run = Task { try await route.run() }
        await eventually { world.sender.answerCount == 1 }
        store.areOthersFirst = true
        for _ in 0..<20 { await world.clock.advance(by: .seconds(2)) }
        #expect(world.sender.answerCount == 1 && store.taken.count == 1)
        store.areOthersFirst = false
        try await world.store.returnDeliveries(store.taken.map { ReturnedLease($0, .untouched) })
        while try await !world.pending().isEmpty { await world.clock.advance(by: .seconds(2)) }
        run.cancel()
        _ = await run.result
        #expect(world.sender.taken == [LaneWorld.token(0): ["n0"]])
        try await world.store.close()
    }

    @Test("a target that was claimed once more in its turn, and then fails, is held by nobody")
    func claimedAgainInItsTurn() async throws {
        let world = try await LaneWorld(seed: 1, devices: 1)
        world.sender.behave(after: [.status(429, reason: "TooManyRequests")])
        try await world.append([(id: "n0", origin: nil)])
        let route = world.makeRoute()
        world.sender.duringNextRequest {
            // The lease vests, and the queue is asked once more.
            await world.clock.jump(by: .seconds(61))
            _ = try? await route.isSettled()
        }
        let run = Task { try await route.run() }
        await eventually { world.sender.answerCount == 1 }
        try await eventually { try await route.isSettled() }
        while try await !world.pending().isEmpty { await world.clock.advance(by: .seconds(2)) }
        run.cancel()
        _ = await run.result
        #expect(world.sender.taken == [LaneWorld.token(0): ["n0"]])
        try await world.store.close()
    }

    @Test("during a long pause leases vest, and nothing is sent to who is not claimed again")
    func vestedInPause() async throws {
        let world = try await LaneWorld(seed: 1, devices: 3)
        world.sender.behave(
            after: [.status(429, reason: "TooManyProviderTokenUpdates", retryAfter: .seconds(600))])
        try await world.append([(id: "n0", origin: nil)])
        let route = world.makeRoute { $0.requestsInFlight = 1 }
        let run = Task { try await route.run() }
        await eventually { world.sender.answerCount == 1 }
        while try await !world.pending().isEmpty { await world.clock.advance(by: .seconds(60)) }
        run.cancel()
        _ = await run.result
        #expect(world.sender.taken.values.allSatisfy { $0 == ["n0"] })
        #expect(world.sender.taken.count == 3)
        try await world.store.close()
    }
}

/// A store of which only one container's queue can be read.
private struct OneReadableQueue: WrappedStore {
    struct Unreadable: Error {}

    let base: any OpenedStore

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        guard queue == .pushTargets(LaneWorld.container) else { throw Unreadable() }
        return try await base.claimDeliveries(claim, in: queue)
    }
}

/// A store on which others claim everything before the route does.
private final class OthersFirst: WrappedStore {
    private struct State {
        var areFirst = false
        var taken: [DeliveryLease] = []
    }

    let base: any OpenedStore
    private let state = Mutex(State())

    init(_ base: any OpenedStore) {
        self.base = base
    }

    var areOthersFirst: Bool {
        get { state.withLock(\.areFirst) }
        set { state.withLock { $0.areFirst = newValue } }
    }
    /// What others have claimed.
    var taken: [DeliveryLease] { state.withLock(\.taken) }

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        if areOthersFirst {
            var theirs = claim
            theirs.holder = LeaseHolder(rawValue: UUID())
            let claimed = try await base.claimDeliveries(theirs, in: queue)
            state.withLock { $0.taken += claimed.leases }
        }
        return try await base.claimDeliveries(claim, in: queue)
    }
}
