// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling
import TidebellWire

/// Nobody knows whether a commit has happened: its connection was lost, and no server could be asked.
/// Its writes must not run again.
struct UnsettledCommit: Error, CustomStringConvertible {
    /// Why no server could be asked.
    var cause: any Error
    var description: String {
        "The connection was lost in a commit, which may have happened or not: \(cause)"
    }
}

/// A write needs the store's lock alone, which it has to have before any other.
private struct NeedsStore: Error {}

/// There is no connection to write on, and nothing was begun.
private struct Unreachable: Error {
    var cause: any Error
}

/// Runs writes in transactions that those who wait share, on one connection.
///
/// Like that of SQLite: nobody waits for company, callers take turns, and each write fails alone,
/// here always in a savepoint, which is sent with the statement behind it and costs no round trip.
final class PostgresWrites: @unchecked Sendable {
    // Sendable: what is not behind the lock is touched on the queue only.

    /// The most writes in one transaction: a server keeps track of 64 savepoints without
    /// looking them up.
    static let writesPerCommit = 32
    /// How long a write waits for a lock of another process where it is not the first of its transaction.
    private static let longestLaterWait = "20ms"
    /// How often a transaction begins anew that met a conflict, or lost its server before it committed.
    static let mostAttempts = 5

    /// What commits signal.
    struct Signals: Sendable {
        let outbox = OutboxSignal()
        let access = OutboxSignal()
        let unsettled = OutboxSignal()
    }

    let signals: Signals
    private let waiting: WriteQueue
    private let queue = DispatchQueue(label: "tidebell.postgres.writer")
    private let connections: WriterConnections
    private let statements: PostgresStatements
    private let guesses: RowGuesses
    private let leases: any OutboxLeases
    /// Whom the other nodes are told by; nil for a server that is alone.
    private let node: Node?
    private let troubles: StoreTroubles
    private let bounds: StoreBounds
    private let elapsed: @Sendable () -> Duration

    /// The name of this process among those that write, and of its last write.
    private let writer: Int64
    private var lastWrite: Int64 = 0
    /// The last one that was acknowledged.
    private var acknowledged: Int64 = 0
    private var connection: PostgresConnection?

    /// Creates a queue that takes over a connection.
    init(
        _ connection: PostgresConnection, named writer: Int64, connections: WriterConnections,
        statements: PostgresStatements, guesses: RowGuesses, leases: any OutboxLeases, node: Node?,
        signals: Signals, troubles: StoreTroubles, bounds: StoreBounds,
        elapsed: @escaping @Sendable () -> Duration
    ) {
        waiting = WriteQueue(bounds, closedError: PostgresPool.Refusal.closed)
        self.connection = connection
        self.writer = writer
        self.connections = connections
        self.statements = statements
        self.guesses = guesses
        self.leases = leases
        self.node = node
        self.signals = signals
        self.troubles = troubles
        self.bounds = bounds
        self.elapsed = elapsed
    }

    /// Takes a write, which is finished later; at once, with an error, when too many wait or the
    /// store is closed.
    func submit(_ write: any WaitingWrite) {
        waiting.submit(write) { queue.async { self.drain() } }
    }

    /// Refuses further writes, does those that wait, and closes the connection.
    func close() async {
        waiting.close()
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                forgetWriter()
                connection?.close()
                connection = nil
                continuation.resume()
            }
        }
        signals.outbox.finish()
        signals.access.finish()
        signals.unsettled.finish()
    }

    // MARK: - On the queue

    private func drain() {
        while let (first, _) = waiting.nextOrEnd() {
            var again = Rerun(writes: [first])
            var attempts = 0
            while !again.writes.isEmpty {
                // The first of those that were postponed waits for its locks as long as it takes.
                attempts = again.isPostponed ? 1 : attempts + 1
                again = commit(
                    again.writes, takesMore: attempts == 1, isLast: attempts == Self.mostAttempts,
                    alone: again.needsStore)
            }
        }
    }

    /// Where a transaction has got to.
    private struct Running {
        /// What waits for its commit.
        var done: [any WaitingWrite] = []
        var signalsOutbox = false
        var endsAccess = false
        var leavesUnsettled = false
        var notified: Set<UserID> = []
    }

    /// Writes that have to run again.
    private struct Rerun {
        var writes: [any WaitingWrite] = []
        /// Whether the first of them was only not the first of its transaction, which it has to be.
        var isPostponed = false
        /// Whether the first of them needs the store's lock alone.
        var needsStore = false
    }

    /// Runs writes in one transaction, and as many of those that wait as it has time for, and finishes
    /// them; returns those that have to run again.
    ///
    /// Only the first waits for locks that other processes have, since it holds none of those that the others
    /// wait for: one that would have to wait later ends the transaction, and is the first of the next.
    ///
    /// - Parameter alone: Whether the first has the lock of the whole store.
    private func commit(
        _ writes: [any WaitingWrite], takesMore: Bool, isLast: Bool, alone: Bool
    ) -> Rerun {
        var rest = writes[...]
        var again = Rerun()
        var running = Running()
        do {
            let connection = try usableConnection()
            let scopes = ScopeLocks(connection, isShared: node != nil)
            let statements = StoreConnection(connection, self.statements, guesses)
            statements.memory = GroupMemory()
            let end = elapsed() + bounds.commitTime
            connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            if alone { scopes.takeStore() }
            while let write = rest.popFirst() ?? next(takesMore, running, before: end) {
                if running.done.count == 1 {
                    connection.enqueue("SET LOCAL lock_timeout = '\(Self.longestLaterWait)'")
                }
                running.done.append(write)
                let failure = try run(write, on: statements, connection, scopes, &running, isLast)
                guard let failure else { continue }
                running.done.removeLast()
                if failure is NeedsStore || !running.done.isEmpty && Self.mayPass(failure) {
                    again = Rerun(
                        writes: [write] + rest, isPostponed: true,
                        needsStore: failure is NeedsStore)
                    break
                }
                let meant = StoreUnavailable.meant(by: failure)
                troubles.note(meant)
                write.finish(meant)
            }
            rest = []
            try finish(running, on: connection)
            return again
        } catch {
            connection?.rollback()
            let others = again.writes + rest
            if !isLast, Self.isConflict(error) || Self.mayPass(error) {
                return Rerun(writes: running.done + others, needsStore: alone)
            }
            // Whoever was not in that transaction is not concerned.
            let isUnsettled = error is UnsettledCommit
            let affected = isUnsettled ? running.done : running.done + others
            let meant = StoreUnavailable.meant(by: (error as? Unreachable)?.cause ?? error)
            troubles.note(meant)
            for write in affected { write.finish(meant) }
            return Rerun(writes: isUnsettled ? others : [], isPostponed: true)
        }
    }

    private func next(
        _ takesMore: Bool, _ running: Running, before end: Duration
    ) -> (any WaitingWrite)? {
        guard takesMore, running.done.count < Self.writesPerCommit, elapsed() < end else {
            return nil
        }
        return waiting.next()
    }

    /// Runs a write in a savepoint; returns why it failed alone, and throws what fails the transaction.
    private func run(
        _ write: any WaitingWrite, on statements: StoreConnection,
        _ connection: PostgresConnection, _ scopes: ScopeLocks, _ running: inout Running,
        _ isLast: Bool
    ) throws -> (any Error)? {
        statements.forgetFailure()
        connection.enqueue("SAVEPOINT write")
        let transaction = SQLTransaction(statements, leases: leases, scopes: scopes)
        do {
            try write.run(in: transaction)
            if let failure = statements.failure { throw failure }
            if scopes.wantsStore { throw NeedsStore() }
            connection.enqueue("RELEASE SAVEPOINT write")
            // A write that waits for a deferred error would fail the others.
            try connection.sync()
        } catch {
            // What was sent without a wait may have failed, too, and what follows would be skipped.
            try? connection.sync()
            let failure = statements.failure ?? error
            if Self.isConflict(failure) || connection.failure != nil { throw failure }
            // The first runs again, and at last fails alone.
            if running.done.count == 1, !isLast, Self.mayPass(failure) { throw failure }
            statements.memory?.forget()
            // Locks that were taken in the savepoint go with it.
            scopes.forget()
            connection.enqueue("ROLLBACK TO SAVEPOINT write")
            try connection.sync()
            return failure
        }
        if transaction.hasAppendedOutbox { running.signalsOutbox = true }
        if transaction.hasEndedAccess { running.endsAccess = true }
        if transaction.hasUnsettled { running.leavesUnsettled = true }
        if node != nil { running.notified.formUnion(transaction.notifiedUsers) }
        return nil
    }

    /// Commits, and finishes what ran.
    private func finish(_ running: Running, on connection: PostgresConnection) throws {
        guard !running.done.isEmpty else { return connection.rollback() }
        // A name is never used twice: what was lost with its connection may still be committed.
        lastWrite += 1
        connection.enqueue(
            """
            INSERT INTO store_writer (id, last_write) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET last_write = excluded.last_write
            """,
            [.int64(writer), .int64(lastWrite)])
        switch connection.commit() {
        case .committed: break
        case .notCommitted(let error): throw error
        case .unknown(let error):
            connection.close()
            guard try isCommitted(lastWrite) else { throw error }
        }
        acknowledged = lastWrite
        troubles.noteSuccess()
        for write in running.done { write.finish(nil) }
        node?.tell(notified: running.notified, endsAccess: running.endsAccess)
        if running.signalsOutbox { signals.outbox.yield() }
        if running.endsAccess { signals.access.yield() }
        if running.leavesUnsettled { signals.unsettled.yield() }
    }

    /// Whether a write was committed whose server did not say so. Waits for what may still be under
    /// way: it holds the row. Throws ``UnsettledCommit`` where no server tells it.
    private func isCommitted(_ name: Int64) throws -> Bool {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try connections.lastWrite(of: writer) == name
            } catch {
                // A server that restarts, or another that takes over, refuses connections at first.
                guard attempt < Pause.attempts, error is PostgresError else {
                    throw UnsettledCommit(cause: error)
                }
                Pause.before(attempt: attempt)
            }
        }
    }

    /// The connection, or another where it was lost. Where none is to be had, those that wait get the
    /// error, too: each would wait as long for it.
    private func usableConnection() throws -> PostgresConnection {
        if let connection, connection.isAlive { return connection }
        do {
            let opened = try connections.reopen(after: acknowledged, of: writer)
            // Of rows that were read before they were committed, and are not there.
            guesses.forget()
            connection = opened
            return opened
        } catch {
            // Also where what was found there is no store any more.
            let meant =
                StoreUnavailable.meant(by: error) as? StoreUnavailable
                ?? StoreUnavailable(.isUnreachable, detail: "\(error)")
            troubles.note(meant)
            while let write = waiting.next() { write.finish(meant) }
            throw Unreachable(cause: meant)
        }
    }

    /// Removes the row of this process's writes.
    private func forgetWriter() {
        guard let connection, connection.failure == nil else { return }
        // One that stays is of no use, and of no harm.
        _ = try? connection.execute("DELETE FROM store_writer WHERE id = $1", [.int64(writer)])
    }

    /// Whether the same may succeed as the first write of a transaction: a lock was not to be had in the time for
    /// it, or another process has made the same row in a scope of its own, which a second look finds.
    private static func mayPass(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.code == "55P03" || error.kind == .uniqueViolation
    }

    /// Whether the same may succeed when it is run again: it did nothing wrong, and nothing of it is there.
    private static func isConflict(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError, !mayPass(error) else { return false }
        return switch error.kind {
        case .serializationFailure, .deadlock, .connectionLost, .unavailable: true
        default: false
        }
    }
}
