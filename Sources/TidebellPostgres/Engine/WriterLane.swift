// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// Nobody knows whether a commit has happened: its connection was lost, and no server could be asked.
/// Its writes must not run again.
struct UnsettledCommit: Error, CustomStringConvertible {
    /// Why no server could be asked.
    var cause: any Error
    var description: String {
        "The connection was lost in a commit, which may have happened or not: \(cause)"
    }
}

/// A lane but the first has no connection, and others may.
private struct LaneUnusable: Error {}

/// A statement failed that may be of the write before, whose outcome was not waited for.
private struct MayBeOfTheOneBefore: Error {}

/// There is no connection to write on, and nothing was begun.
private struct Unreachable: Error {
    var cause: any Error
}

/// Runs the writes of one lane in transactions that those who wait share, on one connection.
///
/// Like that of SQLite: nobody waits for company, callers take turns, and each write fails alone,
/// here always in a savepoint, which is sent with the statement behind it and costs no round trip. What a write sends
/// last is waited for together with what the next one reads first, or with the commit: should it fail, which is rare, all of the
/// transaction run once more, and each is waited for.
final class WriterLane: @unchecked Sendable {
    // Sendable: what can change is touched on the thread only.

    /// How long a write waits for a lock of another lane or process where it is not the first of its transaction.
    private static let longestLaterWait = "20ms"

    /// How long a lane that got no connection is left alone.
    private static let pauseOfUnusable = Duration.seconds(10)

    /// What all lanes have in common.
    struct Surroundings: Sendable {
        var waiting: WriteQueue
        var connections: WriterConnections
        var statements: PostgresStatements
        var guesses: RowGuesses
        var leases: any OutboxLeases
        /// Whom the other nodes are told by; nil for a server that is alone.
        var node: Node?
        var signals: PostgresWrites.Signals
        var troubles: StoreTroubles
        var bounds: StoreBounds
        var elapsed: @Sendable () -> Duration
    }

    let thread: SerialThread
    private let number: Int
    /// Does the writes of a lane that gets no connection; nil for the first itself.
    private let first: WriterLane?
    private let common: Surroundings

    /// The name of the lane among those that write, and of its last write.
    private let writer: Int64
    private var lastWrite: Int64 = 0
    /// Nil until the lane's first write, but for the first lane's.
    private var connection: PostgresConnection?

    /// Creates a lane that takes over a connection, or opens one for its first write.
    init(
        _ number: Int, named writer: Int64, beside first: WriterLane?,
        on connection: PostgresConnection?, _ surroundings: Surroundings
    ) {
        self.number = number
        self.first = first
        self.writer = writer
        self.connection = connection
        thread = SerialThread("writer-\(number)")
        common = surroundings
    }

    // MARK: - On the thread

    /// Closes the connection, after the lane's last write.
    func close() {
        forgetWriter()
        connection?.close()
        connection = nil
    }

    /// Runs what waits in the lane.
    func drain() {
        while let (first, _) = common.waiting.nextOrEnd(in: number) {
            var again = Rerun(writes: [first])
            var attempts = 0
            while !again.writes.isEmpty {
                // The first of those that were postponed waits for its locks as long as it takes.
                attempts = again.isPostponed ? 1 : attempts + 1
                // Nobody waits for the company of one that holds up all others.
                let holdsStore = again.needsStore || again.writes[0].topic == .everything
                let isLast = attempts == PostgresWrites.mostAttempts
                again = commit(
                    again.writes,
                    Running(waitsForEach: again.waitsForEach || isLast || holdsStore),
                    takesMore: attempts == 1 && !holdsStore, isLast: isLast, alone: holdsStore)
                common.waiting.endUnderWay(in: number, but: again.writes)
            }
        }
    }

    /// Where a transaction has got to.
    private struct Running {
        /// What waits for its commit.
        var done: [any WaitingWrite] = []
        /// Whether each is waited for before the next one begins.
        var waitsForEach: Bool
        /// How many round trips there had been when the last one was sent that was not waited for.
        var unwaited: Int?
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
        /// Whether each is to be waited for, since it is not known which of them failed.
        var waitsForEach = false
    }

    /// Runs writes in one transaction, and as many of those that wait as it has time for, and finishes
    /// them; returns those that have to run again.
    ///
    /// Only the first waits for locks that other lanes or processes have, since it holds none of those that the others
    /// wait for: one that would have to wait later ends the transaction, and is the first of the next.
    ///
    /// - Parameter alone: Whether the first has the lock of the whole store.
    private func commit(
        _ writes: [any WaitingWrite], _ begun: Running, takesMore: Bool, isLast: Bool, alone: Bool
    ) -> Rerun {
        var rest = writes[...]
        var again = Rerun()
        var running = begun
        do {
            let connection = try usableConnection()
            let scopes = ScopeLocks(connection)
            let statements = StoreConnection(connection, common.statements, common.guesses)
            statements.memory = GroupMemory()
            let end = common.elapsed() + common.bounds.commitTime
            connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            if alone { scopes.takeStore() }
            while let write = rest.popFirst() ?? next(takesMore, running, before: end) {
                if !running.done.isEmpty, write.runsAlone || write.topic == .everything {
                    // Whoever holds locks of scopes would wait for others that want all of the store, too.
                    again = Rerun(
                        writes: [write] + rest, isPostponed: true,
                        needsStore: write.topic == .everything)
                    break
                }
                if running.done.count == 1 {
                    connection.enqueue("SET LOCAL lock_timeout = '\(Self.longestLaterWait)'")
                }
                running.done.append(write)
                let failure = try run(write, on: statements, connection, scopes, &running, isLast)
                guard let failure else {
                    guard write.runsAlone else { continue }
                    again = Rerun(writes: Array(rest), isPostponed: true)
                    break
                }
                running.done.removeLast()
                if failure is NeedsStore || !running.done.isEmpty && Self.mayPass(failure) {
                    again = Rerun(
                        writes: [write] + rest, isPostponed: true,
                        needsStore: failure is NeedsStore)
                    break
                }
                let meant = StoreUnavailable.meant(by: failure)
                // But for what the write met in another cell.
                if !(failure is StoreUnavailable) { common.troubles.note(meant) }
                write.finish(meant)
            }
            rest = []
            try finish(running, on: connection)
            return again
        } catch {
            connection?.rollback()
            let others = again.writes + rest
            if error is LaneUnusable {
                leave(others)
                return Rerun()
            }
            if error is MayBeOfTheOneBefore {
                return Rerun(
                    writes: running.done + others, needsStore: alone, waitsForEach: true)
            }
            if !isLast, Self.isConflict(error) || Self.mayPass(error) {
                return Rerun(
                    writes: running.done + others, needsStore: alone,
                    waitsForEach: running.waitsForEach)
            }
            // Whoever was not in that transaction is not concerned, unless there was none.
            let hasRun = !running.done.isEmpty && !(error is Unreachable)
            let affected = hasRun ? running.done : running.done + others
            let meant = StoreUnavailable.meant(by: (error as? Unreachable)?.cause ?? error)
            common.troubles.note(meant)
            for write in affected { write.finish(meant) }
            return Rerun(
                writes: hasRun ? others : [], isPostponed: true, needsStore: again.needsStore)
        }
    }

    private func next(
        _ takesMore: Bool, _ running: Running, before end: Duration
    ) -> (any WaitingWrite)? {
        guard takesMore, running.done.count < PostgresWrites.writesPerCommit,
            common.elapsed() < end
        else {
            return nil
        }
        return common.waiting.next(in: number)
    }

    /// Runs a write in a savepoint; returns why it failed alone, and throws what fails the transaction.
    private func run(
        _ write: any WaitingWrite, on statements: StoreConnection,
        _ connection: PostgresConnection, _ scopes: ScopeLocks, _ running: inout Running,
        _ isLast: Bool
    ) throws -> (any Error)? {
        statements.forgetFailure()
        let followsUnwaited = running.unwaited == connection.roundTrips
        let firstWait = connection.roundTrips + 1
        // Another name than the one before has: should that be what failed, this one is not there to go back to.
        let savepoint = running.done.count.isMultiple(of: 2) ? "even_write" : "odd_write"
        connection.enqueue("SAVEPOINT \(savepoint)")
        let transaction = SQLTransaction(statements, leases: common.leases, scopes: scopes)
        do {
            try write.run(in: transaction)
            if let failure = statements.failure { throw failure }
            if scopes.wantsStore { throw NeedsStore() }
            connection.enqueue("RELEASE SAVEPOINT \(savepoint)")
            // A lock that it did not get must be known to be its own.
            if running.waitsForEach || scopes.areUnwaited {
                try connection.sync()
            } else {
                running.unwaited = connection.roundTrips
            }
        } catch {
            var (failed, failedWait) = (statements.failure, statements.failedWait)
            // What was sent without a wait may have failed, too, and what follows would be skipped.
            do { try connection.sync() } catch let late {
                (failed, failedWait) = (failed ?? late, failedWait ?? connection.roundTrips)
            }
            let failure = statements.failure ?? error
            if let lost = connection.failure { throw lost }
            if Self.isConflict(failure) { throw failure }
            if followsUnwaited, failedWait == firstWait,
                !ScopeLocks.isLock((failed as? PostgresError)?.sql)
            {
                throw MayBeOfTheOneBefore()
            }
            // The first runs again, and at last fails alone.
            if running.done.count == 1, !isLast, Self.mayPass(failure) { throw failure }
            statements.memory?.forget()
            // Locks that were taken in the savepoint go with it.
            scopes.forget()
            connection.enqueue("ROLLBACK TO SAVEPOINT \(savepoint)")
            try connection.sync()
            return failure
        }
        if transaction.hasAppendedOutbox { running.signalsOutbox = true }
        if transaction.hasEndedAccess { running.endsAccess = true }
        if transaction.hasUnsettled { running.leavesUnsettled = true }
        if common.node != nil { running.notified.formUnion(transaction.notifiedUsers) }
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
        let followsUnwaited = running.unwaited == connection.roundTrips
        switch connection.commit() {
        case .committed: break
        case .notCommitted(let error):
            if followsUnwaited, !Self.isConflict(error), connection.failure == nil {
                throw MayBeOfTheOneBefore()
            }
            throw error
        case .unknown(let error):
            connection.close()
            guard try isCommitted(lastWrite) else { throw error }
        }
        common.connections.note(acknowledged: lastWrite, of: writer)
        common.troubles.noteSuccess()
        for write in running.done { write.finish(nil) }
        common.node?.tell(notified: running.notified, endsAccess: running.endsAccess)
        if running.signalsOutbox { common.signals.outbox.yield() }
        if running.endsAccess { common.signals.access.yield() }
        if running.leavesUnsettled { common.signals.unsettled.yield() }
    }

    /// Whether a write was committed whose server did not say so. Waits for what may still be under
    /// way: it holds the row. Throws ``UnsettledCommit`` where no server tells it.
    private func isCommitted(_ name: Int64) throws -> Bool {
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try common.connections.lastWrite(of: writer) == name
            } catch {
                // A server that restarts, or another that takes over, refuses connections at first.
                guard attempt < Pause.attempts, error is PostgresError else {
                    throw UnsettledCommit(cause: error)
                }
                Pause.before(attempt: attempt)
            }
        }
    }

    /// Gives the writes of the lane to the first one, and takes no others for a while.
    private func leave(_ writes: [any WaitingWrite]) {
        guard let first else { return }
        let startsDrain = common.waiting.leave(
            number, with: writes, until: common.elapsed() + Self.pauseOfUnusable)
        if startsDrain { first.thread.async { first.drain() } }
    }

    /// The connection, or another where it was lost. Where none is to be had, those that wait get the
    /// error, too: each would wait as long for it.
    private func usableConnection() throws -> PostgresConnection {
        do {
            if let refusal = common.connections.refusal { throw refusal }
            if let connection, connection.isAlive { return connection }
            let opened = try common.connections.open(number, of: writer)
            // Of rows that were read before they were committed, and are not there.
            common.guesses.forget()
            connection = opened
            return opened
        } catch {
            if first != nil, common.connections.refusal == nil { throw LaneUnusable() }
            // Also where what was found there is no store any more.
            let meant =
                StoreUnavailable.meant(by: error) as? StoreUnavailable
                ?? StoreUnavailable(.isUnreachable, detail: "\(error)")
            common.troubles.note(meant)
            while let write = common.waiting.next(in: number) { write.finish(meant) }
            throw Unreachable(cause: meant)
        }
    }

    /// Removes the row of the lane's writes.
    private func forgetWriter() {
        guard let connection, connection.failure == nil else { return }
        // One that stays is of no use, and of no harm.
        _ = try? connection.execute("DELETE FROM store_writer WHERE id = $1", [.int64(writer)])
    }

    /// Whether the same may succeed as the first write of a transaction: a lock was not to be had in the time for
    /// it, or another lane or process has made the same row in a scope of its own, which a second look finds.
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
