// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A clock that stands still until a test moves it, and that a test can wait for: it is moved once the
/// one who is to sleep on it sleeps, however long a busy machine takes to get there.
package final class SteppedClock: Clock {
    /// A moment: the time since the clock was made.
    package struct Instant: InstantProtocol {
        /// The time since the clock was made.
        package var offset: Duration

        /// Creates a moment.
        package init(offset: Duration = .zero) { self.offset = offset }

        package func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private struct Sleeper {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// Somebody who waits for the sleepers to be as they should.
    private struct Watcher {
        var id: Int
        /// Gets how long each sleeper still sleeps.
        var isContent: @Sendable ([Duration]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant()
        var lastID = 0
        var sleepers: [Sleeper] = []
        var watchers: [Watcher] = []
        var cancelled: Set<Int> = []
        var slept: [Duration] = []
        /// What resumes those whose wait is over, in order.
        var due: [() -> Void] = []

        var remaining: [Duration] { sleepers.map { now.duration(to: $0.deadline) } }

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func wakeWatchers() {
            guard !watchers.isEmpty else { return }
            let remaining = remaining
            let content = watchers.filter { $0.isContent(remaining) }
            let ids = Set(content.map(\.id))
            watchers.removeAll { ids.contains($0.id) }
            due += content.map { watcher in { watcher.continuation.resume() } }
        }
    }

    /// The time of day at which the clock starts, in milliseconds since 1970.
    package let start: Int64
    // A lock that the thread sanitizer sees.
    private let lock = NSLock()
    // Sendable: used under the lock only.
    nonisolated(unsafe) private var state = State()

    /// Creates a clock.
    ///
    /// - Parameter start: The time of day it starts at, in milliseconds since 1970.
    package init(start: Int64 = 0) { self.start = start }

    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, due) = lock.withLock {
            defer { state.due = [] }
            return (body(&state), state.due)
        }
        // Not under the lock: resuming takes the task's own, under which a cancelled task calls
        // its handler, which takes ours.
        due.forEach { $0() }
        return result
    }

    package var now: Instant { withState { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }
    /// How long each sleep was to be, in order.
    package var slept: [Duration] { withState { $0.slept } }
    /// How many sleep now.
    package var sleeperCount: Int { withState { $0.sleepers.count } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = withState { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                withState { state in
                    state.slept.append(state.now.duration(to: deadline))
                    if state.cancelled.remove(id) != nil {
                        state.due.append { continuation.resume(throwing: CancellationError()) }
                    } else if deadline <= state.now {
                        state.due.append { continuation.resume() }
                    } else {
                        state.sleepers.append(
                            Sleeper(id: id, deadline: deadline, continuation: continuation)
                        )
                    }
                    state.wakeWatchers()
                }
            }
        } onCancel: {
            withState { state in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return
                }
                let sleeper = state.sleepers.remove(at: index)
                state.due.append { sleeper.continuation.resume(throwing: CancellationError()) }
                state.wakeWatchers()
            }
        }
    }

    /// Moves the time on and wakes those whose time has come, earliest first.
    package func advance(by duration: Duration) {
        withState { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let due = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            state.due += due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                .map { sleeper in { sleeper.continuation.resume() } }
            state.wakeWatchers()
        }
    }

    /// Waits until the sleepers are as they should be; `isContent` gets how long each still sleeps. Ends
    /// early only with its task.
    package func until(_ isContent: @escaping @Sendable ([Duration]) -> Bool) async {
        let id = withState { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                withState { state in
                    if state.cancelled.remove(id) != nil {
                        return state.due.append { continuation.resume() }
                    }
                    state.watchers.append(
                        Watcher(id: id, isContent: isContent, continuation: continuation)
                    )
                    state.wakeWatchers()
                }
            }
        } onCancel: {
            withState { state in
                guard let index = state.watchers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return
                }
                let watcher = state.watchers.remove(at: index)
                state.due.append { watcher.continuation.resume() }
            }
        }
    }

    /// Waits until so many sleep, or more.
    package func untilSleeping(_ count: Int = 1) async {
        await until { $0.count >= count }
    }

    /// Waits until somebody sleeps for no longer than `limit`.
    package func untilSlept(atMost limit: Duration) async {
        await until { $0.contains { $0 <= limit } }
    }

    /// Waits until somebody sleeps for exactly `duration` from now.
    package func waitForSleeper(of duration: Duration) async {
        await until { $0.contains(duration) }
    }
}
