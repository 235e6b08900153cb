// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// A store that counts its calls and fails on request.
final class ObservedStore: Store {
    struct Failure: Error {}

    private struct State {
        var reads = 0
        var writes = 0
        var failingReads = 0
        var failingWrites = 0
        var failure: any Error = Failure()
        var claimed: [DatabaseID] = []
    }

    private let base: any Store
    private let losesWakeUps: Bool
    private let state = Mutex(State())

    init(_ base: any Store, losesWakeUps: Bool = false) {
        self.base = base
        self.losesWakeUps = losesWakeUps
    }

    /// The reads that have ended: what is written after one is not in it.
    var reads: Int { state.withLock(\.reads) }
    /// What the latest claim got.
    var claimed: [DatabaseID] { state.withLock(\.claimed) }
    var identity: UInt64 { base.identity }
    var incarnation: Incarnation { base.incarnation }

    /// Makes the next calls fail before they do anything.
    func fail(reads: Int = 0, writes: Int = 0, with failure: any Error = Failure()) {
        state.withLock {
            ($0.failingReads, $0.failingWrites, $0.failure) = (reads, writes, failure)
        }
    }

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        let failure = state.withLock { state in
            state.writes += 1
            state.failingWrites -= 1
            return state.failingWrites >= 0 ? state.failure : nil
        }
        if let failure { throw failure }
        return try await base.writeInSteps(for: caller, about: scope, durability: durability, body)
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        let failure = state.withLock { state in
            state.failingReads -= 1
            return state.failingReads >= 0 ? state.failure : nil
        }
        defer { state.withLock { $0.reads += 1 } }
        if let failure { throw failure }
        return try await base.read(body)
    }

    func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        defer { state.withLock { $0.reads += 1 } }
        let answer = try await base.claimOutboxes(claim, reading: body)
        state.withLock { $0.claimed = answer.claimed.leases.map(\.key) }
        return answer
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

    func outboxCommits() -> AsyncStream<Void> {
        losesWakeUps ? AsyncStream { _ in } : base.outboxCommits()
    }

    func close() async throws { try await base.close() }
}
