// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import TidebellCore
import TidebellScheduling
import Metrics

extension PushPipeline {
    /// Runs until the task is cancelled or the service group shuts down
    /// gracefully; what is pending then stays in the outbox for the next start.
    package func run() async throws {
        // Before the first pass, so that no commit falls between the two.
        let commits = store.outboxCommits()
        let wake = WakeSignal(isRaised: true)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in commits { wake.raise() } }
                group.addTask { await self.raise(wake) }
                await self.notify(whenever: wake)
                group.cancelAll()
            }
        }
    }

    /// Covers wake-ups that got lost.
    private func raise(_ wake: WakeSignal) async {
        // Sleeping fails by cancellation only, which is the end.
        while (try? await clock.sleep(for: configuration.pollInterval)) != nil {
            wake.raise()
        }
    }

    private func notify(whenever wake: WakeSignal) async {
        var trouble = Trouble()
        var pause: Duration?
        while true {
            await wake.wait(atMost: pause, on: clock)
            guard !Task.isCancelled else { return }
            do {
                if configuration.coalescingWindow > .zero {
                    try await clock.sleep(for: configuration.coalescingWindow)
                }
                pause = note(try await round(), in: &trouble)
            } catch {
                guard !Task.isCancelled else { return }
                // The store helps nobody now: commits are no reason to try sooner.
                metrics.failures.increment()
                warn(of: error, in: &trouble)
                try? await clock.sleep(for: trouble.wait(configuration))
                pause = .zero
            }
        }
    }

    /// What the store failed in since it worked; ``FailingDatabases`` reports single databases.
    private struct Trouble {
        var isReported = false
        /// Rounds in a row that could not be ended.
        var rounds = 0

        mutating func wait(_ configuration: PushConfiguration) -> Duration {
            rounds += 1
            return configuration.retry.wait(after: rounds)
        }
    }

    /// Notes what a round came to; returns how long to wait at most for the next one.
    private func note(_ round: PassRound, in trouble: inout Trouble) -> Duration? {
        guard round.isComplete else { return trouble.wait(configuration) }
        trouble.rounds = 0
        if trouble.isReported {
            logger.notice("push pipeline works again")
            trouble.isReported = false
        }
        return round.nextVesting.map { .milliseconds(max(0, $0.rawValue - now().rawValue)) }
    }

    private func warn(of error: any Error, in trouble: inout Trouble) {
        // Once, not at every try: the next news is that it works again.
        if !trouble.isReported {
            logger.warning(
                "push pipeline failed; pushes wait in the outbox and are tried again",
                metadata: ["error": "\(error)"]
            )
        }
        trouble.isReported = true
    }
}
