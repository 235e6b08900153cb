// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Synchronization
package import TidebellCore
import TidebellSQL
import TidebellWire

/// What a store was found to be when it was opened, and where it is noted how far it comes.
struct StoreLife: Sendable {
    /// Nil where the file cannot be opened, or is not there yet.
    var note: StoreNoteFile?
    var cameBackOlder: Bool
}

/// The embedded engine: one SQLite file, written by one connection and read by
/// several.
///
/// DESIGN.md beside this file explains why it is as it is.
package final class SQLiteStore: OpenedStore {
    /// What a read that may turn out to be long looks at on its caller's thread; some
    /// milliseconds. A page of a query that half of the records match fits, and one of changes with
    /// the most records (``Limits/recordsPerExtendedPage``), so that they are not begun twice.
    static let budgetInPlace = ReadBudget(records: 1000, bytes: 512 * 1024)

    package let identity: UInt64

    package var incarnation: Incarnation {
        Incarnation(rawValue: currentIncarnation.load(ordering: .relaxed))
    }

    package var cameBackOlder: Bool { life.cameBackOlder }

    private let currentIncarnation: Atomic<Int64>
    private let life: StoreLife
    let pool: DatabasePool
    private let writes: GroupCommit
    let log: WriteAheadLog
    private let leases = QueueLeases()
    private let outbox = OutboxSignal()
    private let access = OutboxSignal()
    private let unsettled = OutboxSignal()
    let server: ServerLock?
    let mender = StoreMender()
    package let troubles: StoreTroubles
    private let bounds: StoreBounds
    private let numbering: Numbering
    let files: StoreFiles
    private let reads = Atomic(0)
    private let readsInPlace: ReadsInPlace
    private let connections: PlaceConnections
    private let isClosed = Atomic(false)

    /// Takes over an open pool; see ``open(at:for:identity:)``.
    init(
        pool: DatabasePool, connections: PlaceConnections, files: StoreFiles, identity: UInt64,
        incarnation: Incarnation,
        log: WriteAheadLog, server: ServerLock?, life: StoreLife, scopes: ScopeCheck?,
        troubles: StoreTroubles, bounds: StoreBounds, numbering: Numbering,
        elapsed: @escaping @Sendable () -> Duration
    ) {
        self.pool = pool
        self.connections = connections
        self.identity = identity
        currentIncarnation = Atomic(incarnation.rawValue)
        self.life = life
        self.troubles = troubles
        self.log = log
        self.server = server
        self.bounds = bounds
        self.numbering = numbering
        self.files = files
        readsInPlace = ReadsInPlace(elapsed: elapsed)
        writes = GroupCommit(
            pool, log: log, leases: leases, scopes: scopes, outbox: outbox, access: access,
            unsettled: unsettled, troubles: troubles, note: life.note, files: files, bounds: bounds,
            numbering: numbering, elapsed: elapsed
        )
    }

    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await mending { try await self.submit(for: caller, durability: durability, body) }
    }

    /// Runs a body that shares its transaction with nobody, has no scope and may make tables anew.
    func writeAlone<Result: Sendable>(
        _ body: @escaping @Sendable (SQLTransaction) throws -> Result
    ) async throws -> Result {
        try await submit(for: nil, alone: true) { steps in
            guard let transaction = steps as? SQLTransaction else {
                preconditionFailure("a SQLite store hands out transactions of its own only")
            }
            return try transaction.remakingTables { try body(transaction) }
        }
    }

    private func submit<Result: Sendable>(
        for caller: AccountID?, alone: Bool = false, durability: Durability = .immediate,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            writes.submit(
                PendingWrite(
                    for: caller, alone: alone, durability: durability, body, continuation))
        }
    }

    /// Whether this is the one process that serves the store.
    var isServing: Bool { server != nil }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await read(.short, body)
    }

    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        do {
            return try await mending { try await self.readOnce(length, body) }
        } catch {
            // Also what opening one more connection meets.
            let error = StoreUnavailable.meant(by: error)
            troubles.note(error)
            if (error as? StoreUnavailable)?.cause == .isGone { await writes.lookAtFiles() }
            throw error
        }
    }

    private func readOnce<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        guard length != .long else {
            return try await pool.unsafeRead { try self.run(body, length, on: $0) }
        }
        let running = reads.add(1, ordering: .relaxed).newValue
        defer { reads.subtract(1, ordering: .relaxed) }
        guard running <= bounds.waitingReads else {
            throw bounds.tooManyReadsWait
        }
        if let answer = try readsInPlace.run(running, { try read(length, at: $0, body) }) {
            return answer
        }
        return try await pool.unsafeRead { database in
            // What it may look at takes its time.
            guard length == .short else { return try self.run(body, length, on: database) }
            return try self.readsInPlace.measure { try self.run(body, length, on: database) }
        }
    }

    /// Reads on the thread of the caller; nil where that would take the thread for too long.
    private func read<Result: Sendable>(
        _ length: ReadLength, at place: Int, _ body: @Sendable (any StoreReader) throws -> Result
    ) throws -> Result? {
        guard case .within(let whole) = length else {
            return try connections.read(at: place) { try run(body, length, on: $0) }
        }
        let budget = whole.bounded(by: Self.budgetInPlace)
        do {
            return try connections.read(at: place) { try run(body, .within(budget), on: $0) }
        } catch is ReadBudgetPassed where budget != whole {
            return nil
        }
    }

    /// Runs a body in a transaction of ours: GRDB's own would prepare three
    /// statements anew for every read.
    private func run<Result: Sendable>(
        _ body: @Sendable (any StoreReader) throws -> Result, _ length: ReadLength,
        on database: Database
    ) throws -> Result {
        let connection = Connection(database, numbering: numbering)
        try connection.run("BEGIN DEFERRED")
        defer { connection.endRead() }
        do {
            return try body(SQLReader(connection, length))
        } catch DatabaseError.SQLITE_INTERRUPT {
            // GRDB stops a reader whose task is cancelled.
            throw CancellationError()
        }
    }

    /// Begins a new life; see DESIGN.md for how no number is given out a second time. The
    /// time it takes grows with the number of databases.
    package func beginNewIncarnation(at now: Instant) async throws {
        guard server != nil else { throw StoreOpenError.inUse(path: pool.path) }
        let begun = try await write(.everything) { transaction throws in
            guard let transaction = transaction as? SQLTransaction else {
                preconditionFailure("a SQLite store hands out transactions of its own only")
            }
            _ = try transaction.beginNewIncarnation(at: now)
            return try transaction.progress()
        }
        currentIncarnation.store(begun.incarnation.rawValue, ordering: .relaxed)
        try await pool.writeWithoutTransaction { [life, identity] _ in
            life.note?.begin(StoreNote(identity: identity, progress: begun))
        }
    }

    package func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        try await leases.claimOutboxes(claim, in: self, reading: body)
    }

    package func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) {
        self.leases.outboxes.take(leases)
    }

    package func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try await leases.claimDeliveries(claim, in: queue, of: self)
    }

    package func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) {
        self.leases.takeDeliveries(leases)
    }

    package func outboxCommits() -> AsyncStream<Void> {
        outbox.stream()
    }

    package func accessCommits() -> AsyncStream<Void> {
        access.stream()
    }

    package func unsettledCommits() -> AsyncStream<Void> {
        unsettled.stream()
    }

    package func close() async throws {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        writes.close()
        mender.end.raise()
        outbox.finish()
        access.finish()
        unsettled.finish()
        defer { server?.release() }
        // Runs after the writes that still waited: the writer has one queue. Not
        // GRDB's async call, which would not run in a task that was cancelled.
        await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [writes, files, log, server, life] database in
                let connection = Connection(database)
                if server != nil { writes.flush(on: connection) }
                life.note?.flush()
                log.end(on: connection, of: files)
                continuation.resume()
            }
        }
        let closing = Result { try connections.close() }
        try pool.close()
        try closing.get()
    }

    /// How many writes wait for a transaction.
    var waitingWrites: Int { writes.waitingCount }

    /// What calls get after ``close()``.
    static var closedError: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed")
    }
}
