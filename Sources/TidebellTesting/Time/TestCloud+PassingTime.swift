// SPDX-License-Identifier: Apache-2.0
import CloudKit

extension TestCloud {
    /// The longest time that passes for one body, unless the call sets another one: a day.
    public static let longestPassingTime = Duration.seconds(24 * 3600)

    /// Runs a body, and moves ``clock`` forward to each point in time that something waits for: an
    /// operation that is repeated later, a slow answer, a late push, code that sleeps on the clock.
    ///
    /// ```swift
    /// phone.inject(.lostAnswer)
    /// try await cloud.passingTime { try await store.save("milk", as: "shopping") }
    /// ```
    ///
    /// Time passes only while something waits for it, and no more than it waits for. Without this
    /// method the clock stands still, and an operation that waits for it does not end. After a
    /// minute (a tenth of `safetyLimit`) in which nothing happens, the operation fails, with an
    /// error that states what it waits for.
    ///
    /// - Parameters:
    ///   - longest: The most time that passes; then the clock stands still again.
    ///   - isolation: The actor that the body runs on.
    ///   - body: The code to run.
    @discardableResult
    public func passingTime<Value>(
        upTo longest: Duration = TestCloud.longestPassingTime,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        let (clock, changes, watchdog) = (state.clock, state.changes, state.watchdog)
        let end = clock.now.advanced(by: longest)
        watchdog.moverBegins()
        let mover = Task {
            await clock.move(to: end, seeing: changes)
            watchdog.moverEnds()
        }
        do {
            let value = try await body()
            mover.cancel()
            await mover.value
            return value
        } catch {
            mover.cancel()
            await mover.value
            throw error
        }
    }
}

extension ManualClock {
    /// Moves on to each moment that is waited for, until the task is cancelled or `end` is
    /// reached.
    fileprivate func move(to end: Instant, seeing changes: Changes) async {
        while !Task.isCancelled {
            let version = changes.version
            // Whoever can go on without the time gets to.
            await Self.letOthersRun()
            if let next = nextAwaited {
                guard next <= end else { return }
                await advance(to: next)
            } else {
                // It fails where the task was cancelled, which the loop sees.
                try? await changes.wait(after: version)
            }
        }
    }
}
