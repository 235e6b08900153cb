// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling
import TidebellWire

/// The engine that keeps a store in a database of PostgreSQL.
///
/// Where one process serves it, leases, and hints of commits, are in that process; nodes share both.
package final class PostgresStore: OpenedStore {
    package let identity: UInt64
    package let cameBackOlder: Bool
    package let troubles: StoreTroubles

    package var incarnation: Incarnation {
        Incarnation(rawValue: currentIncarnation.load(ordering: .relaxed))
    }

    private let currentIncarnation: Atomic<Int64>
    private let connections: WriterConnections
    private let pool: PostgresPool
    private let longPool: PostgresPool
    private let writes: PostgresWrites
    private let statements: PostgresStatements
    private let guesses: RowGuesses
    /// The leases of a server that is alone.
    private let leases: QueueLeases
    /// What a node shares with others; nil for a server that is alone.
    private let node: Node?
    private let bounds: StoreBounds
    /// Where it is, without a password.
    let place: String
    /// Snapshots for work that runs in other cells.
    let snapshots: CellSnapshots

    /// Takes over what ``open(at:for:bounds:time:randomness:)`` found.
    init(
        identity: UInt64, incarnation: Incarnation, cameBackOlder: Bool,
        connections: WriterConnections, pool: PostgresPool, longPool: PostgresPool,
        writes: PostgresWrites, leases: QueueLeases, node: Node?, statements: PostgresStatements,
        guesses: RowGuesses, troubles: StoreTroubles, bounds: StoreBounds,
        at address: PostgresAddress, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.identity = identity
        self.cameBackOlder = cameBackOlder
        currentIncarnation = Atomic(incarnation.rawValue)
        self.connections = connections
        self.pool = pool
        self.longPool = longPool
        self.writes = writes
        self.statements = statements
        self.guesses = guesses
        self.leases = leases
        self.node = node
        self.troubles = troubles
        self.bounds = bounds
        place = address.description
        snapshots = CellSnapshots(address, statements, guesses, troubles, elapsed: elapsed)
    }

    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await writeInSteps(
            for: caller, about: scope, alone: false, durability: durability, body)
    }

    /// The same.
    ///
    /// - Parameter alone: Whether nothing else is in its transaction.
    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, alone: Bool, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            writes.submit(
                PendingWrite(
                    for: caller, about: writes.topic(of: scope), alone: alone,
                    durability: durability, body, continuation))
        }
    }

    /// What a write of a scope is about.
    func topic(of scope: StoreScope) -> WriteTopic { writes.topic(of: scope) }

    /// Takes a write that is finished later, by its lane.
    func submit(_ write: any WaitingWrite) { writes.submit(write) }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await read(.short, body)
    }

    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        do {
            let pool = length == .long ? longPool : pool
            let result = try await pool.run(.read) { [statements, guesses] connection in
                let store = StoreConnection(
                    connection, statements, guesses,
                    beginning: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                let result = try body(SQLReader(store, length))
                // Of several cells it may have read in others only.
                if store.hasBegun { connection.endRead() }
                return result
            }
            troubles.noteReading()
            return result
        } catch PostgresPool.Refusal.tooManyWaiting {
            throw bounds.tooManyReadsWait
        } catch let error as StoreUnavailable {
            // Another cell's, in which the body read as well.
            throw error
        } catch {
            let error = StoreUnavailable.meant(by: error)
            troubles.note(error)
            throw error
        }
    }

    package func outboxCommits() -> AsyncStream<Void> { writes.signals.outbox.stream() }

    package func accessCommits() -> AsyncStream<Void> { writes.signals.access.stream() }

    package func unsettledCommits() -> AsyncStream<Void> { writes.signals.unsettled.stream() }

    package func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void) {
        node?.whenNotifiedElsewhere(body)
    }

    package var damageSearch: DamageSearch { .toolsOfPostgreSQL }

    package var isMaintainedHere: Bool { node?.leads ?? true }

    package func whenLost(_ body: @escaping @Sendable (StoreOpenError) -> Void) {
        connections.whenRefused(body)
    }

    package func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        guard let node else {
            return try await leases.claimOutboxes(claim, in: self, reading: body)
        }
        let claimed = try await node.leases.claimOutboxes(claim)
        guard !claimed.leases.isEmpty else { return (claimed, nil) }
        // Whoever holds the leases reads once more where this fails.
        return (claimed, try? await read { body(claimed.leases, $0) })
    }

    /// Who holds which database's outbox.
    var outboxLeases: any OutboxLeases { node?.leases ?? leases }

    package func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws {
        guard let node else { return self.leases.outboxes.take(leases) }
        // Also in a task that is cancelled: the others would wait until they vest.
        try await Task { try await node.leases.giveBack(leases) }.value
    }

    package func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        guard let node else { return try await leases.claimDeliveries(claim, in: queue, of: self) }
        return try await node.leases.claimDeliveries(claim, in: queue)
    }

    package func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        guard let node else { return self.leases.takeDeliveries(leases) }
        try await Task { try await node.leases.giveBack(leases) }.value
    }

    /// Begins a new life past what is known of the lost one.
    package func beginNewIncarnation(at now: Instant) async throws {
        let begun = try await write(.everything) {
            try Self.transaction($0).beginNewLife(at: now)
        }
        connections.note(begun)
        currentIncarnation.store(begun.rawValue, ordering: .relaxed)
    }

    /// A transaction of this engine, as it is.
    static func transaction(_ transaction: any StoreTransaction) -> SQLTransaction {
        guard let transaction = transaction as? SQLTransaction else {
            preconditionFailure("a PostgreSQL store hands out transactions of its own only")
        }
        return transaction
    }

    package func close() async throws {
        await writes.close()
        await node?.close()
        await pool.close()
        await longPool.close()
        snapshots.close()
    }
}
