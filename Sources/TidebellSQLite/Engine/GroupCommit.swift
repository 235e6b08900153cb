// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization
import TidebellCore
import TidebellSQL
import TidebellWire

/// Runs writes in transactions that all who wait share, so that they share the
/// flush to disk.
///
/// A write never waits for company: while one transaction is flushed the next
/// writes gather, and under no load a write is alone. Each fails alone: what fails before it wrote
/// anything leaves nothing to undo, and where one fails after that, all of its transaction run once
/// more, each in a savepoint of its own.
///
/// Callers take turns, write by write, also within a transaction: who comes while another's many
/// wait, or run, is next. And a transaction takes writes for a while only
/// (``StoreBounds/commitTime``).
final class GroupCommit: Sendable {
    /// The most writes in one transaction: bounds how long the first waits for
    /// the last.
    static let writesPerCommit = 128
    private let queue: WriteQueue
    private let pool: DatabasePool
    private let log: WriteAheadLog
    private let leases: QueueLeases
    private let scopes: ScopeCheck?
    private let outbox: OutboxSignal
    private let access: OutboxSignal
    private let unsettled: OutboxSignal
    private let troubles: StoreTroubles
    private let note: StoreNoteFile?
    private let files: StoreFiles
    private let bounds: StoreBounds
    private let numbering: Numbering
    private let elapsed: @Sendable () -> Duration
    private let unflushed: UnflushedCommits

    /// Creates a queue for the writer connection of `pool`.
    init(
        _ pool: DatabasePool, log: WriteAheadLog, leases: QueueLeases, scopes: ScopeCheck?,
        outbox: OutboxSignal, access: OutboxSignal, unsettled: OutboxSignal,
        troubles: StoreTroubles, note: StoreNoteFile?, files: StoreFiles, bounds: StoreBounds,
        numbering: Numbering, elapsed: @escaping @Sendable () -> Duration
    ) {
        queue = WriteQueue(bounds, closedError: SQLiteStore.closedError)
        self.pool = pool
        self.log = log
        self.leases = leases
        self.scopes = scopes
        self.outbox = outbox
        self.access = access
        self.unsettled = unsettled
        self.troubles = troubles
        self.note = note
        self.files = files
        self.bounds = bounds
        self.numbering = numbering
        self.elapsed = elapsed
        unflushed = UnflushedCommits(numbering)
    }

    /// Takes a write, which is finished later; at once, with an error, when too
    /// many wait or the store is closed.
    func submit(_ write: any WaitingWrite) {
        queue.submit(write) { _ in pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// How many writes wait for a transaction.
    var waitingCount: Int { queue.count }

    /// Looks whether a file of the store was removed, as every write does; what was acknowledged is
    /// saved then.
    func lookAtFiles() async {
        await withCheckedContinuation { continuation in
            let isEnqueued = queue.unlessClosed {
                pool.asyncWriteWithoutTransaction { database in
                    try? self.checkFiles(on: Connection(database))
                    continuation.resume()
                }
            }
            if !isEnqueued { continuation.resume() }
        }
    }

    /// Refuses further writes; those that wait are still done.
    func close() { queue.close() }

    // MARK: - On the queue of the writer connection

    /// Makes all commits durable, when nobody writes any more. Where that fails the next start leaves
    /// numbers out.
    func flush(on connection: Connection) {
        guard !files.areReplaced else { return }
        do {
            try SQLTransaction(connection).removeReservation()
            note?.noteCommit(nil, unflushed.lastNotification, quietChanges: nil)
        } catch {}
    }

    private func drain(_ database: Database) {
        let connection = Connection(database, numbering: numbering)
        while let (first, waiting) = queue.nextOrEnd() {
            var rest = Rest(writes: [first], more: min(waiting, Self.writesPerCommit - 1))
            while !rest.isEmpty { rest = commit(rest, on: connection) }
            do {
                if !unflushed.hasHole { try log.keepShort(on: connection, of: files) }
            } catch {
                unflushed.noteFailure(error)
            }
        }
    }

    /// Writes that need a transaction.
    private struct Rest {
        var writes: ArraySlice<any WaitingWrite> = []
        /// How many of those that wait may join them.
        var more = 0
        /// Whether each is to run in a savepoint of its own.
        var eachAlone = false
        /// Whether the transaction is flushed, whatever they are.
        var isFlushed = false

        var isEmpty: Bool { writes.isEmpty && more == 0 }
    }

    /// A write failed after it wrote something, and has no savepoint that could be undone.
    private struct NotAlone: Error {
        /// Why it failed.
        var cause: any Error
    }
    /// Runs writes in one transaction, and as many of those that wait as it has time for, finishes
    /// them and returns those that need another: because SQLite ended the transaction, one of them
    /// met damage, wants one alone, or has to be undone alone.
    private func commit(_ begun: Rest, on connection: Connection) -> Rest {
        var (rest, left) = (begun.writes, begun.more)
        // Who waits for the disk takes those along that need not.
        let isFlushed =
            begun.isFlushed || rest.count != 1 || left > 0
            || !rest.allSatisfy(unflushed.mayFollow)
        defer { try? unflushed.setFlushing(true, on: connection) }
        do {
            connection.forgetDamage()
            try checkFiles(on: connection)
            try unflushed.closeHole(in: log, on: connection)
            try unflushed.setFlushing(isFlushed, on: connection)
            try connection.run("BEGIN IMMEDIATE")
        } catch {
            fail(rest + (0..<left).compactMap { _ in queue.next() }, error)
            return Rest()
        }
        connection.memory = GroupMemory()
        defer { connection.memory = nil }
        let end = elapsed() + bounds.commitTime
        var ran: [any WaitingWrite] = []
        var signalsOutbox = false
        var endsAccess = false
        var leavesUnsettled = false
        var hasQuietChange = false
        var quietChanges: Int64?
        var latest: LatestChange?
        var notification = NotificationSequence.start
        var reserved: NotificationSequence?
        do {
            // Also of those that come again: what has no time left is in the next transaction.
            while ran.isEmpty || elapsed() < end {
                if rest.isEmpty, left > 0 {
                    left -= 1
                    if let next = queue.next() { rest.append(next) }
                }
                guard let write = rest.first, !write.runsAlone || ran.isEmpty else { break }
                rest.removeFirst()
                ran.append(write)
                let transaction = SQLTransaction(connection, leases: leases, scopes: scopes)
                let failure = try attempt(
                    write, in: transaction, alone: begun.eachAlone || write.runsAlone,
                    on: connection)
                if let error = connection.damage ?? failure {
                    ran.removeLast()
                    fail([write], error)
                    if connection.damage != nil {
                        // Nothing more of this transaction would be stored.
                        try connection.run("ROLLBACK")
                        return Rest(writes: ran[...] + rest, eachAlone: begun.eachAlone)
                    }
                } else {
                    if transaction.hasAppendedOutbox { signalsOutbox = true }
                    if transaction.hasEndedAccess { endsAccess = true }
                    if transaction.hasUnsettled { leavesUnsettled = true }
                    if transaction.hasQuietChange { hasQuietChange = true }
                    latest = transaction.latestChange ?? latest
                    notification = max(notification, transaction.lastNotification)
                    if isFlushed, reserved == nil {
                        reserved = try unflushed.reserve(
                            after: notification, for: write, in: transaction)
                    }
                }
                if write.runsAlone { break }
            }
            if !isFlushed, hasQuietChange || latest != nil || !unflushed.hasReserved(notification) {
                try connection.run("ROLLBACK")
                return Rest(writes: ran[...] + rest, eachAlone: begun.eachAlone, isFlushed: true)
            }
            if hasQuietChange {
                quietChanges = try SQLTransaction(connection).countQuietChange()
            }
            try connection.run("COMMIT")
            // Nothing is acknowledged that only this process can still read.
            try checkFiles(on: connection)
        } catch {
            unflushed.noteFailure(error)
            // Fails only when SQLite has rolled back already.
            if connection.isInTransaction { try? connection.run("ROLLBACK") }
            if let failure = error as? NotAlone {
                guard ran.count == 1 else {
                    // Others may join them as before: who makes writes fail takes no turns from anybody.
                    return Rest(writes: ran[...] + rest, more: left, eachAlone: true)
                }
                // It was without company, and that is all there was to undo.
                fail(ran, failure.cause)
                return Rest(writes: rest, more: left)
            }
            fail(ran, error)
            return Rest(writes: rest, eachAlone: begun.eachAlone)
        }
        if log.hasGrown() {
            troubles.noteSuccess()
            if let reserved { unflushed.noteReserved(reserved) }
            unflushed.noteCommit(notification, isFlushed: isFlushed)
            if isFlushed {
                note?.noteCommit(
                    latest, unflushed.lastNotification, quietChanges: quietChanges)
            }
        }
        for write in ran { write.finish(nil) }
        if signalsOutbox { outbox.yield() }
        if endsAccess { access.yield() }
        if leavesUnsettled { unsettled.yield() }
        return Rest(writes: rest, eachAlone: begun.eachAlone)
    }

    /// Fails where a file of the store was removed; what was acknowledged before is saved then.
    private func checkFiles(on connection: Connection) throws {
        do {
            try files.check()
        } catch {
            if !files.areReplaced { log.save(on: connection) }
            throw error
        }
    }

    /// Finishes writes that failed, with what an error of SQLite means to them.
    private func fail(_ writes: some Sequence<any WaitingWrite>, _ error: any Error) {
        let error = StoreUnavailable.meant(by: error)
        troubles.note(error)
        for write in writes { write.finish(error) }
    }

    /// Runs one write and returns why it failed, if it did; throws when the whole transaction is lost
    /// with it, or ``NotAlone``.
    ///
    /// Nearly all writes succeed or are refused before they write, so that the first attempt has no
    /// savepoint: it costs two statements and a copy of each page that is written.
    private func attempt(
        _ write: any WaitingWrite, in transaction: SQLTransaction, alone: Bool,
        on connection: Connection
    ) throws -> (any Error)? {
        connection.forgetFailure()
        guard alone else {
            do {
                try write.run(in: transaction)
                if let failure = connection.failure { throw failure }
                return nil
            } catch {
                guard connection.isInTransaction else { throw error }
                // Damage undoes the transaction whatever was written.
                guard connection.hasWritten, connection.damage == nil else { return error }
                throw NotAlone(cause: error)
            }
        }
        try connection.run("SAVEPOINT write")
        do {
            try write.run(in: transaction)
            if let failure = connection.failure { throw failure }
            try connection.run("RELEASE write")
            return nil
        } catch {
            // SQLite ends the transaction by itself after a full disk and the like.
            guard connection.isInTransaction else { throw error }
            connection.memory?.forget()
            try connection.run("ROLLBACK TO write")
            try connection.run("RELEASE write")
            // It may have removed a table from the schema and made it anew: the connection's copy
            // of the schema in memory does not come back with the schema itself.
            if write.runsAlone { try connection.run("PRAGMA writable_schema = RESET") }
            return error
        }
    }
}
