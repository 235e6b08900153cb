// SPDX-License-Identifier: Apache-2.0
import Foundation

@testable import CloudKit

/// A clock that stands still until a test moves it.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var id: UUID
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var cancelled: Set<UUID> = []
        var watchers: [Watcher] = []
        var shortWatchers: [(limit: Duration, continuation: CheckedContinuation<Void, Never>)] = []
        var slept: [Duration] = []

        mutating func tellWatchers() {
            let asleep = sleepers.count
            let ready = watchers.filter { $0.count <= asleep }
            watchers.removeAll { $0.count <= asleep }
            ready.forEach { $0.continuation.resume() }
            guard let shortest = sleepers.map({ now.duration(to: $0.deadline) }).min() else {
                return
            }
            let content = shortWatchers.filter { shortest <= $0.limit }
            shortWatchers.removeAll { shortest <= $0.limit }
            content.forEach { $0.continuation.resume() }
        }
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// How long each sleep was to be, in order.
    var slept: [Duration] { state.withLock { $0.slept } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    state.slept.append(state.now.duration(to: deadline))
                    if state.cancelled.remove(id) != nil {
                        continuation.resume(throwing: CancellationError())
                    } else if deadline <= state.now {
                        continuation.resume()
                    } else {
                        let sleeper = Sleeper(
                            id: id, deadline: deadline, continuation: continuation)
                        state.sleepers.append(sleeper)
                        state.tellWatchers()
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return
                }
                state.sleepers.remove(at: index).continuation
                    .resume(throwing: CancellationError())
            }
        }
    }

    /// Moves the time on and wakes those whose time has come.
    func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            due.forEach { $0.continuation.resume() }
        }
    }

    /// Waits until so many sleep.
    func untilSleeping(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.watchers.append(Watcher(count: count, continuation: continuation))
                state.tellWatchers()
            }
        }
    }

    /// Waits until somebody sleeps for no longer than `limit`.
    func untilSlept(atMost limit: Duration) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.shortWatchers.append((limit, continuation))
                state.tellWatchers()
            }
        }
    }
}
