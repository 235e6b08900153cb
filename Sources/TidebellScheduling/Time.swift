// SPDX-License-Identifier: Apache-2.0

/// The time of day, and waiting; both are handed in, so that tests can hold them.
///
/// The machine's is ``system``. Whoever puts a server, a command or a device together hands
/// it in, and nobody else takes it: `Scripts/lint-time` checks where that is.
package struct Time: Sendable {
    /// Returns the time of day, which may be set back.
    package var now: @Sendable () -> Instant
    /// What is waited with.
    package var clock: any Clock<Duration>
    /// How long this time has been measured: what durations are measured with, because the
    /// time of day may be set.
    package var elapsed: @Sendable () -> Duration

    /// Creates a time; what has elapsed is measured with `clock` unless something else is
    /// given.
    package init(
        now: @escaping @Sendable () -> Instant, clock: any Clock<Duration>,
        elapsed: (@Sendable () -> Duration)? = nil
    ) {
        self.now = now
        self.clock = clock
        self.elapsed = elapsed ?? Self.stopwatch(on: clock)
    }

    /// Returns a function that measures how much time went by on `clock` since this call.
    package static func stopwatch(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
