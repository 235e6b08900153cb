// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import TidebellScheduling

/// A connection to PostgreSQL, in libpq's pipeline mode: statements are sent without waiting,
/// and a wait is for all that were sent before.
///
/// Used by one thread at a time, and not by one of the cooperative pool: it blocks.
///
/// What stands between two waits is one round trip and, without a BEGIN, one transaction. An
/// error skips everything up to the next wait, which throws it. COPY does not work in this mode.
package final class PostgresConnection {
    /// How many round trips there were: waits for the server, whatever they waited for.
    package internal(set) var roundTrips = 0
    /// Why the connection is of no more use; nil while it is.
    package internal(set) var failure: PostgresError?

    // libpq's connection; nil once it is closed.
    var connection: OpaquePointer?
    var asked = AskedQueue()
    var parameters = ParameterBuffer()
    var statements: StatementCache
    let notices = Notices()
    let trips: RoundTripCount?
    // What others end statements with.
    var canceller: PostgresCanceller?
    // The first error since the last wait.
    var firstError: (any Error)?
    // How many bytes were handed to libpq since it last sent all it had.
    var unsentBytes = 0
    // Names of statements that went from the cache and that the server still has.
    var evicted: [String] = []
    // Whether the statement whose results are being read had one already.
    var hasResult = false
    // Whether the transaction's end was sent, and nothing since.
    var isEnding = false
    // How the last COMMIT went, as far as the server said.
    var commitProgress = CommitProgress.notAsked

    /// Connects, and waits for that as long as the address allows.
    ///
    /// - Parameters:
    ///   - address: Where to.
    ///   - statementLimit: How many statements stay prepared; the server keeps a plan of each.
    package init(_ address: PostgresAddress, statementLimit: Int = 256) throws(PostgresError) {
        statements = StatementCache(limit: statementLimit)
        trips = address.trips
        let opened = try address.connect()
        connection = opened
        notices.receive(from: opened)
        guard PQsetnonblocking(opened, 1) == 0, PQenterPipelineMode(opened) == 1 else {
            throw PostgresError(.cannotConnect, Self.message(of: opened))
        }
    }

    deinit { close() }

    /// Ends the connection; the server rolls back what was not committed.
    package func close() {
        guard let connection else { return }
        PQfinish(connection)
        self.connection = nil
        failure = failure ?? PostgresError(.connectionLost, "the connection was closed")
    }

    /// Whether a transaction is open, as the server said at the last wait.
    package var isInTransaction: Bool {
        guard let connection else { return false }
        return PQtransactionStatus(connection) != PQTRANS_IDLE
    }

    /// The server's number of this connection (`pg_backend_pid()`).
    package var serverProcess: Int32 { connection.map { PQbackendPID($0) } ?? 0 }

    /// The server's version, such as 150018.
    package var serverVersion: Int { connection.map { Int(PQserverVersion($0)) } ?? 0 }

    /// How many statements are prepared.
    package var preparedCount: Int { statements.count }

    /// Sends a statement without waiting; the next wait throws its error.
    ///
    /// - Parameters:
    ///   - sql: One statement, with `$1`… for the values. It stays prepared.
    ///   - values: At most 65,535.
    ///   - row: Gets the rows, at the latest during the next wait; without it they are dropped.
    ///     What it throws, that wait throws.
    package func enqueue(
        _ sql: String, _ values: [PostgresValue] = [],
        row: ((PostgresRow) throws -> Void)? = nil
    ) {
        sendPrepared(sql, values, row: row)
    }

    /// Sends a statement without waiting; its rows are kept from the next wait on.
    package func enqueue(
        _ sql: String, _ values: [PostgresValue] = [], keeping answer: PostgresAnswer
    ) {
        sendPrepared(sql, values, answer: answer)
    }

    /// Sends a statement that is not worth preparing, such as one that makes a table.
    package func enqueueOnce(_ sql: String, _ values: [PostgresValue] = []) {
        sendOnce(sql, values, as: .statement(AskedStatement(sql: sql)))
    }

    /// Sends a statement and waits, in one round trip with what was sent before.
    ///
    /// All rows are in memory before the first is given: bound them, or read in pages.
    ///
    /// - Parameter row: Gets each row. When it throws, it gets no further one.
    /// - Returns: How many rows the statement changed or read.
    /// - Throws: The first error since the last wait: a ``PostgresError``, or what a closure threw.
    @discardableResult
    package func rows(
        _ sql: String, _ values: [PostgresValue] = [], _ row: (PostgresRow) throws -> Void
    ) throws -> Int {
        let count = AskedStatement.Count()
        withoutActuallyEscaping(row) { row in
            sendPrepared(sql, values, row: row, count: count)
            // Whatever happens, nothing is asked any more afterwards, and the closure is gone.
            wait()
        }
        try throwFirstError()
        return count.rows
    }

    /// Sends a statement, waits, and returns how many rows it changed or read.
    @discardableResult
    package func execute(_ sql: String, _ values: [PostgresValue] = []) throws -> Int {
        let count = AskedStatement.Count()
        sendPrepared(sql, values, count: count)
        wait()
        try throwFirstError()
        return count.rows
    }

    /// Waits for everything that was sent.
    ///
    /// - Throws: The first error since the last wait.
    package func sync() throws {
        if !asked.isEmpty { wait() }
        try throwFirstError()
    }

    /// Commits the open transaction, in one round trip with what was sent before.
    ///
    /// Afterwards no transaction is open. A closure of ``enqueue(_:_:row:)`` that throws here
    /// does not undo the commit, and its error is dropped.
    package func commit() -> CommitOutcome {
        commitProgress = .notAsked
        sendOnce("COMMIT", [], as: .commit)
        wait()
        let first = firstError
        firstError = nil
        if case .done = commitProgress { return .committed }
        let error =
            first as? PostgresError ?? failure
            ?? PostgresError(.other, "the transaction had failed before", sql: "COMMIT")
        switch commitProgress {
        case .done: return .committed
        case .unsaid: return .unknown(error)
        case .notAsked, .refused:
            rollback()
            return .notCommitted(error)
        }
    }

    /// Rolls the open transaction back, if there is one; a connection that cannot is closed.
    package func rollback() {
        if !asked.isEmpty { wait() }
        firstError = nil
        guard isInTransaction else { return }
        sendOnce("ROLLBACK", [], as: .statement(AskedStatement(sql: "ROLLBACK")))
        wait()
        firstError = nil
        if isInTransaction { close() }
    }

    /// Rolls the open transaction back, in which nothing was written, and does not wait for that: the next wait
    /// does. What was sent before is not waited for either, and must not matter.
    package func endRead() {
        sendOnce("ROLLBACK", [], as: .statement(AskedStatement(sql: "ROLLBACK")))
        sendOff()
        isEnding = true
    }

    /// Leaves no transaction open behind a piece of work that did what it should, and waits for what it sent.
    func settle() throws {
        guard !isEnding || connection == nil else { return }
        try sync()
        rollback()
    }

    /// Returns what ends a statement of this connection from another thread.
    package func makeCanceller() -> PostgresCanceller? {
        canceller =
            canceller ?? connection.flatMap { PQgetCancel($0) }.map { PostgresCanceller($0) }
        return canceller
    }

    private func throwFirstError() throws {
        guard let error = firstError else { return }
        firstError = nil
        throw error
    }

    /// libpq's last complaint.
    static func message(of connection: OpaquePointer) -> String {
        PostgresError.trimmed(String(cString: PQerrorMessage(connection)))
    }
}

/// What ends the statement that a connection runs, from any thread.
package final class PostgresCanceller: @unchecked Sendable {
    // Sendable: libpq only reads it, and PQcancel may be called from any thread.
    private let pointer: OpaquePointer
    private let hasCancelled = Locked(false)

    /// Whether somebody has asked.
    var isWanted: Bool { hasCancelled.current }

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    /// Asks the server to end the statement; blocks while it connects for that.
    ///
    /// The next statement may be hit instead: whoever asks gives the connection up. A statement
    /// that the request overtook is ended by another one, within a second.
    ///
    /// - Returns: Whether the server took the request.
    @discardableResult
    package func cancel() -> Bool {
        hasCancelled.current = true
        var complaint = [CChar](repeating: 0, count: 256)
        return PQcancel(pointer, &complaint, Int32(complaint.count)) == 1
    }
}
