// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellScheduling

/// A clock that goes on like another one, and that a test moves forward: who sleeps until a moment that
/// is passed then wakes up.
package final class ShiftedClock: Clock {
    /// A moment on the clock: how long it has gone on.
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var shift = Duration.zero
        /// Changes with the shift, so that a nap that begins meanwhile is none.
        var generation = 0
        var naps: [Int: Task<Void, Never>] = [:]
        var lastNap = 0
    }

    private let base: Time
    private let state = Mutex(State())

    /// Creates a clock that goes on with `base`.
    package init(_ base: Time) {
        self.base = base
    }

    /// The time of day and durations by this clock.
    package var time: Time {
        Time(
            now: { [self] in base.now().advanced(by: shift) }, clock: self,
            elapsed: { [self] in now.offset })
    }

    /// How far it was moved.
    package var shift: Duration { state.withLock(\.shift) }

    /// Moves it forward.
    package func advance(by duration: Duration) {
        let naps = state.withLock { state in
            state.shift += duration
            state.generation += 1
            return Array(state.naps.values)
        }
        for nap in naps { nap.cancel() }
    }

    package var now: Instant { Instant(offset: base.elapsed() + shift) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        while true {
            try Task.checkCancellation()
            let generation = state.withLock(\.generation)
            let rest = now.duration(to: deadline)
            guard rest > .zero else { return }
            // It ends by itself or is cancelled; either way what is left is looked at again.
            let nap = Task { [clock = base.clock] in _ = try? await clock.sleep(for: rest) }
            let id = state.withLock { state -> Int? in
                guard state.generation == generation else { return nil }
                state.lastNap += 1
                state.naps[state.lastNap] = nap
                return state.lastNap
            }
            guard let id else {
                nap.cancel()
                continue
            }
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
            state.withLock { $0.naps[id] = nil }
        }
    }
}
