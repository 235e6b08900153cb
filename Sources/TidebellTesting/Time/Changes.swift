// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Wakes waiting tasks when something changed, so that they look again.
///
/// Nobody sleeps: a task that waits for a condition checks it after every change.
final class Changes: Sendable {
    private struct State {
        var version: UInt64 = 0
        var lastID: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<UInt64> = []
    }

    /// The parts that a limit of real time is waited for in.
    static let parts = 100

    private let state = Mutex(State())
    /// What the test's clock shows; nil where there is none.
    private let moment: @Sendable () -> ManualClock.Instant?
    private let realTime: any Clock<Duration>

    /// Creates what nobody waits for yet.
    ///
    /// - Parameters:
    ///   - moment: What the test's clock shows: as long as it is moved, a limit of real time does not
    ///     count.
    ///   - realTime: The clock of the limits.
    init(
        at moment: @escaping @Sendable () -> ManualClock.Instant?,
        realTime: any Clock<Duration> = ContinuousClock()
    ) {
        self.moment = moment
        self.realTime = realTime
    }

    /// How many changes there were.
    var version: UInt64 { state.withLock { $0.version } }

    /// Wakes every waiting task.
    func notify() {
        let waiters = state.withLock { state in
            state.version += 1
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns what `condition` returns once that is not nil.
    ///
    /// `condition` is called at once and after every change. Fails with
    /// ``TestCloudError/timedOut`` when that takes longer than `limit` of real time in which the
    /// test's clock stands still.
    func first<Value: Sendable>(
        within limit: Duration,
        otherwise failure: @escaping @Sendable () async -> String,
        _ condition: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                while true {
                    let version = self.state.withLock { $0.version }
                    if let value = try await condition() { return value }
                    try await self.wait(after: version)
                }
            }
            group.addTask {
                try await self.waitWhileClockMoves(limit)
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            throw TestCloudError.timedOut(await failure(), after: limit)
        }
    }

    /// Returns when `limit` of real time has passed in which the test's clock stood still.
    ///
    /// The only wait by real time: it only ends what would otherwise hang. In parts, each of which
    /// takes its turn: where a busy machine lets no task on, this one does not get on either. It
    /// may take long there until the clock has come to the moment that is waited for.
    private func waitWhileClockMoves(_ limit: Duration) async throws {
        var seen = moment()
        var quiet = 0
        while quiet < Self.parts {
            try await realTime.sleep(for: limit / Self.parts)
            let now = moment()
            quiet = now == seen ? quiet + 1 : 0
            seen = now
        }
    }

    /// Returns when there was a change after `version`.
    func wait(after version: UInt64) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumes = state.withLock { state in
                    if state.cancelled.remove(id) != nil || state.version > version { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if resumes { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.resume()
        }
        try Task.checkCancellation()
    }
}
