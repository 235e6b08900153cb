// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// A store whose process can die: from then on every call fails, and what was
/// not durable never happened.
final class MortalStore: Store {
    /// There is nobody to answer any more.
    struct Died: Error {}

    private struct State {
        var calls = 0
        var writes = 0
        var death: Death?
        var isDead = false
        var idleClaims = 0
        var listener: AsyncStream<Void>.Continuation?
    }

    private let base: any Store
    private let state = Mutex(State())

    init(_ base: any Store) {
        self.base = base
    }

    var identity: UInt64 { base.identity }
    var incarnation: Incarnation { base.incarnation }
    var isDead: Bool { state.withLock(\.isDead) }
    /// The transactions that became durable since the death was fixed.
    var writes: Int { state.withLock(\.writes) }

    /// Starts to count anew, and fixes the call to die at, if any.
    func fix(_ death: Death?) {
        state.withLock {
            $0.calls = 0
            $0.writes = 0
            $0.death = death
        }
    }

    /// Dies now.
    func die() {
        state.withLock { $0.isDead = true }
    }

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try begin()
        let result = try await base.writeInSteps(
            for: caller, about: scope, durability: durability, body)
        state.withLock { $0.writes += 1 }
        try end()
        return result
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try begin()
        let result = try await base.read(body)
        try end()
        return result
    }

    func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        try begin()
        let answer = try await base.claimOutboxes(claim, reading: body)
        try end()
        if answer.claimed.leases.isEmpty { state.withLock { $0.idleClaims += 1 } }
        return answer
    }

    func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws {
        try begin()
        try await base.returnOutboxes(leases)
        try end()
    }

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try begin()
        let claimed = try await base.claimDeliveries(claim, in: queue)
        try end()
        return claimed
    }

    func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        try begin()
        try await base.returnDeliveries(leases)
        try end()
    }

    /// How often a pipeline found that there is nothing to do.
    var idleClaims: Int { state.withLock(\.idleClaims) }

    /// Wake-ups come when the walk sends them, and are lost otherwise.
    func outboxCommits() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.listener = continuation }
        return stream
    }

    /// Wakes whoever listens for entries in the outbox.
    func wake() { state.withLock { $0.listener }?.yield() }

    func accessCommits() -> AsyncStream<Void> { AsyncStream { _ in } }
    func unsettledCommits() -> AsyncStream<Void> { AsyncStream { _ in } }

    func close() async throws { try await base.close() }

    private func begin() throws {
        try state.withLock { state in
            state.calls += 1
            if state.death == .call(state.calls, isDone: false) { state.isDead = true }
            if state.isDead { throw Died() }
        }
    }

    private func end() throws {
        try state.withLock { state in
            if state.death == .call(state.calls, isDone: true) { state.isDead = true }
            if state.isDead { throw Died() }
        }
    }
}
