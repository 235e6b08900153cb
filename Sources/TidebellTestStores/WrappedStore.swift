// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellCore
package import TidebellScheduling

/// A store that does something of its own with some calls, and hands on everything else.
package protocol WrappedStore: OpenedStore {
    /// The store that keeps everything.
    var base: any OpenedStore { get }
}

extension WrappedStore {
    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await base.writeInSteps(for: caller, about: scope, durability: durability, body)
    }

    package func parts(of users: Set<UserID>) -> [Set<UserID>] { base.parts(of: users) }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }

    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await base.read(length, body)
    }

    package var identity: UInt64 { base.identity }
    package var incarnation: Incarnation { base.incarnation }
    package var cameBackOlder: Bool { base.cameBackOlder }
    package var troubles: StoreTroubles { base.troubles }
    package var troublesOfCells: [String: StoreTroubles] { base.troublesOfCells }

    package func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        try await base.claimOutboxes(claim, reading: body)
    }

    package func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws {
        try await base.returnOutboxes(leases)
    }

    package func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try await base.claimDeliveries(claim, in: queue)
    }

    package func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        try await base.returnDeliveries(leases)
    }

    package var damageSearch: DamageSearch { base.damageSearch }
    package var isMaintainedHere: Bool { base.isMaintainedHere }
    package func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void) {
        base.whenNotifiedElsewhere(body)
    }
    package func whenLost(_ body: @escaping @Sendable (StoreOpenError) -> Void) {
        base.whenLost(body)
    }
    package func outboxCommits() -> AsyncStream<Void> { base.outboxCommits() }
    package func accessCommits() -> AsyncStream<Void> { base.accessCommits() }
    package func unsettledCommits() -> AsyncStream<Void> { base.unsettledCommits() }
    package func probe() async throws { try await base.probe() }
    package func inspect() async throws { try await base.inspect() }
    package func close() async throws { try await base.close() }

    package func beginNewIncarnation(at now: Instant) async throws {
        try await base.beginNewIncarnation(at: now)
    }
}

/// Opens stores of an engine, each wrapped.
struct WrappingFactory: StoreFactory {
    let base: any StoreFactory
    let wrap: @Sendable (any OpenedStore) -> any OpenedStore

    var isInDataFolder: Bool { base.isInDataFolder }

    func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        wrap(
            try base.open(
                in: folder, for: purpose, bounds: bounds, time: time, randomness: randomness))
    }
}

extension Store {
    /// The engine below all that is put around it: for tests of what only that engine does.
    package var engine: any Store { (self as? any WrappedStore)?.base.engine ?? self }
}
