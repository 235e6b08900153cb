// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import TidebellScheduling

/// Connections to one PostgreSQL, each on a thread of its own, for tasks to run work on.
///
/// Connections are made when there is work for them, and stay. One that broke, or whose server
/// is no longer the primary, is never used again; the next is made after a back-off that all
/// share. Work that waits for a connection waits in order, and is given up when it is cancelled.
/// ``close()`` it: the threads hold it.
package final class PostgresPool: Sendable {
    /// What the pool takes at most.
    package struct Limits: Sendable, Hashable {
        /// Connections, and threads.
        package var connections: Int
        /// Pieces of work that wait for one; further ones are refused.
        package var waiting: Int
        /// How long a piece of work waits for a server that does not answer, or not as a
        /// primary: a failover takes seconds.
        package var patience: Duration
        /// Statements that stay prepared on each connection.
        package var statements: Int

        /// Creates limits.
        package init(
            connections: Int = 8, waiting: Int = 10_000, patience: Duration = .seconds(10),
            statements: Int = 256
        ) {
            self.connections = max(connections, 1)
            self.waiting = waiting
            self.patience = patience
            self.statements = statements
        }
    }

    /// What a piece of work does, which decides what becomes of it when its task is cancelled.
    package enum Work: Sendable, Hashable {
        /// It may be cut short: its statement is cancelled.
        case read
        /// It runs to its end.
        case write
    }

    /// Why a piece of work was not begun.
    package enum Refusal: Error, Sendable, Hashable {
        /// As much as the limit waits already.
        case tooManyWaiting(limit: Int)
        /// The pool is closed.
        case closed
    }

    private let address: PostgresAddress
    private let limits: Limits
    private let time: Time
    private let randomness: Randomness
    private let backoff: Backoff
    private let queue = PoolQueue()

    /// Creates a pool without a connection.
    package init(
        _ address: PostgresAddress, limits: Limits = Limits(), time: Time, randomness: Randomness,
        backoff: Backoff = Backoff(
            first: .milliseconds(50), longest: .seconds(2), spread: .longer(by: 0.5))
    ) {
        self.address = address
        self.limits = limits
        self.time = time
        self.randomness = randomness
        self.backoff = backoff
    }

    /// How many connections are open or being made, each with its thread.
    package var connectionCount: Int { queue.threadCount }

    /// How many pieces of work wait for a connection.
    package var waitingCount: Int { queue.waitingCount }

    /// Runs `body` on a connection, on its thread, when one is free.
    ///
    /// Whatever `body` leaves behind is settled: what it sent is waited for, an open transaction
    /// is rolled back.
    ///
    /// - Parameter work: Whether a cancelled task cuts it short. That costs the connection.
    /// - Throws: What `body` throws; a ``Refusal``; a ``PostgresError`` when there is no
    ///   connection for as long as ``Limits/patience``; `CancellationError`.
    package func run<Value: Sendable>(
        _ work: Work = .write,
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let start = time.elapsed()
        while true {
            do {
                return try await attempt(work, body)
            } catch let missing as NoConnection {
                let waited = time.elapsed() - start
                guard missing.mayPass, waited + missing.wait <= limits.patience else {
                    throw missing.error
                }
                try await time.clock.sleep(for: missing.wait)
            }
        }
    }

    /// Refuses what waits and what comes, lets end what runs, and closes all connections;
    /// returns when no thread is left.
    package func close() async {
        await withCheckedContinuation { queue.close($0) }
    }

    private func attempt<Value: Sendable>(
        _ work: Work, _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let job = PoolJob(work)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Value, any Error>) in
                job.refuse = { continuation.resume(throwing: $0) }
                job.perform = { connection in
                    let result = Result { try Self.settled(connection, body) }
                    return { isCancelled in
                        continuation.resume(with: Self.told(result, isCancelled))
                    }
                }
                let isThreadWanted = queue.add(job, limits)
                if isThreadWanted { startThread() }
            }
        } onCancel: {
            queue.cancel(job)
        }
    }

    /// Runs work and leaves the connection as it found it.
    private static func settled<Value>(
        _ connection: PostgresConnection, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        do {
            let value = try body(connection)
            try connection.settle()
            return value
        } catch {
            connection.rollback()
            throw error
        }
    }

    private static func told<Value>(
        _ result: Result<Value, any Error>, _ isCancelled: Bool
    ) -> Result<Value, any Error> {
        guard isCancelled, case .failure(let error) = result,
            (error as? PostgresError)?.kind == .queryCanceled
        else { return result }
        return .failure(CancellationError())
    }

    private func startThread() {
        let thread = Thread { [self] in
            serve()
            queue.threadEnded()
        }
        thread.name = "postgres"
        thread.start()
    }

    /// Does one piece of work after the other, until the pool is closed.
    private func serve() {
        var connection: PostgresConnection?
        while let job = queue.next() {
            do {
                if connection?.isAlive != true { connection = nil }
                let usable = try connection ?? connect()
                connection = usable
                let isKept = queue.run(job, on: usable)
                if !isKept { connection = nil }
            } catch {
                job.refuse(error)
            }
        }
    }

    private func connect() throws -> PostgresConnection {
        try queue.mayConnect(at: time.elapsed(), backoff, jitter: randomness.makeFraction())
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, statementLimit: limits.statements)
            queue.connected()
            return connection
        } catch {
            throw queue.failed(
                error, at: time.elapsed(), backoff, jitter: randomness.makeFraction())
        }
    }
}

/// There was no connection for a piece of work, which was not begun.
struct NoConnection: Error {
    var error: PostgresError
    /// When to try again.
    var wait: Duration

    /// Whether trying again may help.
    var mayPass: Bool {
        switch error.kind {
        case .cannotConnect, .unavailable, .tooManyConnections, .connectionLost: true
        default: false
        }
    }
}
