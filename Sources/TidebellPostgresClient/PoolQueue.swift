// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import TidebellScheduling

/// A piece of work of a pool.
final class PoolJob: @unchecked Sendable {
    // Sendable: the closures are set before it is queued; the rest is touched under the queue's
    // lock.

    enum State {
        case new, waiting, running, over
    }

    let work: PostgresPool.Work
    var state = State.new
    var isCancelled = false
    /// What ends the statement that runs.
    var canceller: PostgresCanceller?
    /// Answers the task with an error.
    var refuse: (any Error) -> Void = { _ in }
    /// Does the work, and returns what answers the task, told whether it was cancelled.
    var perform: (PostgresConnection) -> (_ isCancelled: Bool) -> Void = { _ in { _ in } }

    init(_ work: PostgresPool.Work) { self.work = work }
}

/// What the threads of a pool share: the work that waits, and when they may connect.
final class PoolQueue: @unchecked Sendable {
    // Sendable: everything is touched under the condition's lock.
    private let condition = NSCondition()
    // Bounded by the pool's limit.
    private var waiting: [PoolJob] = []
    private var threads = 0
    private var idleThreads = 0
    private var isClosed = false
    private var closers: [CheckedContinuation<Void, Never>] = []
    private var failures = 0
    private var lastError: PostgresError?
    /// When the next connection may be tried, on the pool's time.
    private var nextAttempt = Duration.zero

    var threadCount: Int { locked { threads } }
    var waitingCount: Int { locked { waiting.count } }

    /// Queues work, or refuses it; returns whether a thread is to be started for it.
    func add(_ job: PoolJob, _ limits: PostgresPool.Limits) -> Bool {
        let (refusal, isThreadWanted) = locked { () -> ((any Error)?, Bool) in
            if job.isCancelled { return (CancellationError(), false) }
            if isClosed { return (PostgresPool.Refusal.closed, false) }
            let isThreadWanted = waiting.count >= idleThreads && threads < limits.connections
            if !isThreadWanted, waiting.count >= idleThreads + limits.waiting {
                return (PostgresPool.Refusal.tooManyWaiting(limit: limits.waiting), false)
            }
            job.state = .waiting
            waiting.append(job)
            if isThreadWanted { threads += 1 } else { condition.signal() }
            return (nil, isThreadWanted)
        }
        if let refusal { job.refuse(refusal) }
        return isThreadWanted
    }

    /// Waits for work; nil once the pool is closed.
    func next() -> PoolJob? {
        locked {
            idleThreads += 1
            defer { idleThreads -= 1 }
            while waiting.isEmpty, !isClosed { condition.wait() }
            guard !isClosed else { return nil }
            let job = waiting.removeFirst()
            job.state = .running
            return job
        }
    }

    /// Does work; returns whether the connection may be used again.
    func run(_ job: PoolJob, on connection: PostgresConnection) -> Bool {
        let isCancelled = locked {
            if job.work == .read { job.canceller = connection.makeCanceller() }
            return job.isCancelled
        }
        guard !isCancelled else {
            job.refuse(CancellationError())
            return true
        }
        let answer = job.perform(connection)
        let wasCancelled = locked {
            job.state = .over
            job.canceller = nil
            return job.isCancelled && job.work == .read
        }
        // A request to cancel may still be under way, and would hit the next statement.
        let isKept = connection.failure == nil && !wasCancelled
        if !isKept { connection.close() }
        answer(wasCancelled)
        return isKept
    }

    /// Gives up work that waits, and cuts short what runs if it may be.
    func cancel(_ job: PoolJob) {
        let (isRefused, canceller) = locked { () -> (Bool, PostgresCanceller?) in
            job.isCancelled = true
            if job.state == .waiting {
                waiting.removeAll { $0 === job }
                job.state = .over
                return (true, nil)
            }
            guard job.state == .running, let canceller = job.canceller else { return (false, nil) }
            job.canceller = nil
            threads += 1
            return (false, canceller)
        }
        if isRefused { job.refuse(CancellationError()) }
        guard let canceller else { return }
        // It connects, and this is the thread of whoever cancels. One for each connection.
        Thread.detachNewThread { [self] in
            canceller.cancel()
            threadEnded()
        }
    }

    /// Closes the queue; the continuation is resumed when no thread is left.
    func close(_ closer: CheckedContinuation<Void, Never>) {
        let (refused, isOver) = locked { () -> ([PoolJob], Bool) in
            isClosed = true
            defer { waiting = [] }
            for job in waiting { job.state = .over }
            if threads > 0 { closers.append(closer) }
            condition.broadcast()
            return (waiting, threads == 0)
        }
        for job in refused { job.refuse(PostgresPool.Refusal.closed) }
        if isOver { closer.resume() }
    }

    /// Takes that a thread has closed its connection and ends.
    func threadEnded() {
        let done = locked { () -> [CheckedContinuation<Void, Never>] in
            threads -= 1
            guard threads == 0, isClosed else { return [] }
            defer { closers = [] }
            return closers
        }
        for closer in done { closer.resume() }
    }

    // MARK: Connecting

    /// Throws while the back-off lasts, and has one thread try when it is over.
    func mayConnect(at now: Duration, _ backoff: Backoff, jitter: Double) throws {
        try locked {
            guard let lastError else { return }
            guard now >= nextAttempt else {
                throw NoConnection(error: lastError, wait: nextAttempt - now)
            }
            nextAttempt = now + backoff.wait(after: failures, jitter: jitter)
        }
    }

    /// Takes that the server is there.
    func connected() {
        locked {
            failures = 0
            lastError = nil
        }
    }

    /// Takes that no connection was to be had; returns what the work is told.
    func failed(
        _ error: PostgresError, at now: Duration, _ backoff: Backoff, jitter: Double
    ) -> NoConnection {
        locked {
            failures += 1
            let wait = backoff.wait(after: failures, jitter: jitter)
            let missing = NoConnection(error: error, wait: wait)
            // What waiting does not mend is found out anew each time.
            guard missing.mayPass else { return missing }
            lastError = error
            nextAttempt = now + wait
            return missing
        }
    }

    private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }
}
