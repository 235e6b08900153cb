// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// A clock that stands still until it is moved.
final class StepClock: Clock, Sendable {
    struct Moment: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Moment { Moment(offset: offset + duration) }
        func duration(to other: Moment) -> Duration { other.offset - offset }
        static func < (left: Moment, right: Moment) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var id: Int
        var deadline: Moment
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Moment(offset: .zero)
        var sleepers: [Sleeper] = []
        var nextID = 0
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let start: TidebellCore.Instant

    init(at start: TidebellCore.Instant) { self.start = start }

    var now: Moment { state.withLock(\.now) }
    var minimumResolution: Duration { .milliseconds(1) }

    /// The time of day of the clock.
    var instant: TidebellCore.Instant { start.advanced(by: now.offset) }

    /// The sleepers now.
    var sleeperCount: Int { state.withLock(\.sleepers.count) }

    /// Moves the clock and wakes who slept until then.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    func sleep(until deadline: Moment, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers.append(
                        Sleeper(id: id, deadline: deadline, continuation: continuation)
                    )
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}

/// Waits until a condition holds that another task brings about; false when it
/// did not within ten seconds.
func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while ContinuousClock.now < deadline {
        if condition() { return true }
        await Task.yield()
    }
    return false
}
