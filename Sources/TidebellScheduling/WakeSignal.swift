// SPDX-License-Identifier: Apache-2.0

/// Wakes the one task that waits for something to do. A signal that is raised before the
/// wait is kept; several count as one.
package final class WakeSignal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state: Locked<State>

    /// Creates a signal, raised or not.
    package init(isRaised: Bool = false) {
        state = Locked(State(isRaised: isRaised))
    }

    /// Whether somebody waits now.
    package var isAwaited: Bool { state.withLock { $0.waiter != nil } }

    /// Wakes the task that waits, or the next one that will.
    package func raise() {
        let waiter = state.withLock { state in
            state.isRaised = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    /// Returns true once raised, false when the task is cancelled first.
    ///
    /// A cancelled wait takes no signal: the next wait gets it.
    package func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    // Under the lock, so that a cancellation is either seen here
                    // or finds the waiter.
                    if Task.isCancelled { return false }
                    if state.isRaised {
                        state.isRaised = false
                        return true
                    }
                    precondition(state.waiter == nil, "A wake signal has one waiter at a time.")
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: false)
        }
    }

    /// Returns when raised or after `duration`, whichever comes first; nil waits for
    /// the signal alone.
    package func wait(atMost duration: Duration?, on clock: any Clock<Duration>) async {
        guard let duration else {
            _ = await wait()
            return
        }
        guard duration > .zero else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await self.wait() }
            // Fails by cancellation only, which is the end of the wait.
            group.addTask { try? await clock.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }
}
