// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// Connections on which snapshots of one cell are read for work that runs on a connection of another.
///
/// Nobody waits for one, since whoever would wait holds others already: there are as many as there is such work at
/// once, which the pools and lanes of the other cells bound. One that is given back is used again.
final class CellSnapshots: Sendable {
    /// A connection that one thread after the other uses.
    private struct Idle: @unchecked Sendable { var connection: PostgresConnection }

    private struct State {
        var idle: [Idle] = []
        var isClosed = false
        /// Why there was no connection, and until when nobody else tries.
        var failure: (error: PostgresError, until: Duration)?
    }

    /// How long a cell that cannot be reached is left alone: each attempt may take seconds.
    private static let rest = Duration.seconds(5)

    private let address: PostgresAddress
    private let statements: PostgresStatements
    private let guesses: RowGuesses
    private let troubles: StoreTroubles
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    init(
        _ address: PostgresAddress, _ statements: PostgresStatements, _ guesses: RowGuesses,
        _ troubles: StoreTroubles, elapsed: @escaping @Sendable () -> Duration
    ) {
        self.address = address
        self.statements = statements
        self.guesses = guesses
        self.troubles = troubles
        self.elapsed = elapsed
    }

    /// Begins a snapshot, whose first statement takes it.
    ///
    /// - Parameter reader: Within whose budget it is read; nil for a transaction, which reads what it needs.
    ///
    /// - Throws: ``StoreUnavailable`` where the cell cannot be reached.
    func begin(within reader: SQLReader?) throws -> CellSnapshot {
        let connection: PostgresConnection
        do {
            connection = try take() ?? connect()
        } catch {
            // Not the trouble of the cell on whose connection the work runs.
            let meant = StoreUnavailable.meant(by: error)
            troubles.note(meant)
            throw meant
        }
        connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let store = StoreConnection(connection, statements, guesses)
        return CellSnapshot(
            connection, reader.map { SQLReader(store, within: $0) } ?? SQLReader(store, .short))
    }

    /// Ends a snapshot.
    ///
    /// - Parameter isWhole: Whether nothing failed.
    func end(_ snapshot: CellSnapshot, isWhole: Bool) {
        let connection = snapshot.connection
        if isWhole { connection.endRead() } else { connection.rollback() }
        if let failure = connection.failure {
            troubles.note(StoreUnavailable.meant(by: failure))
            return connection.close()
        }
        if isWhole { troubles.noteReading() }
        let idle = Idle(connection: connection)
        let isKept = state.withLock { state in
            if !state.isClosed { state.idle.append(idle) }
            return !state.isClosed
        }
        if !isKept { idle.connection.close() }
    }

    /// Closes those that nobody uses, and the others when they are given back.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for one in idle { one.connection.close() }
    }

    private func connect() throws -> PostgresConnection {
        try state.withLock { state in
            guard let failure = state.failure else { return }
            let now = elapsed()
            guard now >= failure.until else { throw failure.error }
            // One tries, the others get the error meanwhile.
            state.failure?.until = now + Self.rest
        }
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, statementLimit: 512)
            state.withLock { $0.failure = nil }
            return connection
        } catch {
            let until = elapsed() + Self.rest
            state.withLock { $0.failure = (error, until) }
            throw error
        }
    }

    private func take() -> PostgresConnection? {
        while let idle = state.withLock({ $0.idle.popLast() }) {
            if idle.connection.isAlive { return idle.connection }
            idle.connection.close()
        }
        return nil
    }
}

/// A snapshot of one cell.
struct CellSnapshot {
    fileprivate let connection: PostgresConnection
    let reader: SQLReader

    fileprivate init(_ connection: PostgresConnection, _ reader: SQLReader) {
        self.connection = connection
        self.reader = reader
    }
}
