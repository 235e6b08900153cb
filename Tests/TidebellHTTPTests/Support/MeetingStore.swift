// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// A store whose writes wait for one another when asked to: whatever their callers read
/// before, all of them have read it.
final class MeetingStore: Store {
    private struct State {
        var awaited = 0
        var arrived: [CheckedContinuation<Void, Never>] = []
    }

    private let base: any Store
    private let state = Mutex(State())

    init(_ base: any Store) { self.base = base }

    var identity: UInt64 { base.identity }
    var incarnation: Incarnation { base.incarnation }

    /// Makes the next `count` writes begin together.
    func meet(_ count: Int) { state.withLock { $0.awaited = count } }

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let due = state.withLock { state in
                guard state.awaited > 0 else { return [continuation] }
                state.arrived.append(continuation)
                guard state.arrived.count == state.awaited else { return [] }
                defer { state = State() }
                return state.arrived
            }
            for continuation in due { continuation.resume() }
        }
        return try await base.writeInSteps(for: caller, about: scope, durability: durability, body)
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }

    func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        try await base.claimOutboxes(claim, reading: body)
    }

    func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws {
        try await base.returnOutboxes(leases)
    }

    func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try await base.claimDeliveries(claim, in: queue)
    }

    func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        try await base.returnDeliveries(leases)
    }

    func accessCommits() -> AsyncStream<Void> { base.accessCommits() }
    func unsettledCommits() -> AsyncStream<Void> { base.unsettledCommits() }
    func outboxCommits() -> AsyncStream<Void> { base.outboxCommits() }
    func close() async throws { try await base.close() }
}
