// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// A store that can take no more writes, or no more reads.
final class FullStore: Store {
    private let base: any Store
    private let bound: WireError.Bound

    init(_ base: any Store, _ bound: WireError.Bound) {
        self.base = base
        self.bound = bound
    }

    var identity: UInt64 { base.identity }
    var incarnation: Incarnation { base.incarnation }

    private func refuse(as bound: WireError.Bound) throws {
        guard bound == self.bound else { return }
        throw WireError(.tryAgainLater, "many requests wait").naming(bound)
    }

    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try refuse(as: .waitingWritesPerCaller)
        try refuse(as: .waitingWrites)
        return try await base.writeInSteps(for: caller, about: scope, durability: durability, body)
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try refuse(as: .waitingReads)
        return try await base.read(body)
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
