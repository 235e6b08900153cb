// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellTestStores

/// A store that counts what a route writes and gives back, and holds it up where a test asks.
final class WatchedStore: WrappedStore {
    private struct State {
        var writes = 0
        var claims = 0
        var returned: [ReturnedLease<DeliveryPointer>] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var beforeReturn: (@Sendable () async throws -> Void)?
    }

    let base: any OpenedStore
    private let state = Mutex(State())

    init(_ base: any OpenedStore) {
        self.base = base
    }

    /// How many transactions began.
    var writes: Int { state.withLock(\.writes) }
    /// How many claims were answered.
    var claims: Int { state.withLock(\.claims) }
    /// The leases that were given back.
    var returned: [ReturnedLease<DeliveryPointer>] { state.withLock(\.returned) }

    /// Lets no transaction run until ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Lets transactions run.
    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Runs `body` once, before the next leases are given back.
    func beforeReturn(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.beforeReturn = body }
    }

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        await withCheckedContinuation { continuation in
            let runsNow = state.withLock { state in
                state.writes += 1
                if state.isHeld { state.held.append(continuation) }
                return !state.isHeld
            }
            if runsNow { continuation.resume() }
        }
        return try await base.writeInSteps(for: caller, about: scope, durability: durability, body)
    }

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        let claimed = try await base.claimDeliveries(claim, in: queue)
        state.withLock { $0.claims += 1 }
        return claimed
    }

    func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        let body = state.withLock { state in
            state.returned += leases
            defer { state.beforeReturn = nil }
            return state.beforeReturn
        }
        try await body?()
        try await base.returnDeliveries(leases)
    }
}
