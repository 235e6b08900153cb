// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts what a server has to see end before it has stopped: its connections, and the requests
/// that are answered.
final class Underway: Sendable {
    private struct State {
        var count = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Counts one that begins.
    func begin() { state.withLock { $0.count += 1 } }

    /// Counts one that has ended.
    func end() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count -= 1
            guard state.count == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when nothing is under way; for one task.
    func untilNone() async {
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                guard state.count > 0 else { return true }
                precondition(state.waiter == nil, "the end is waited for once")
                state.waiter = continuation
                return false
            }
            if isNone { continuation.resume() }
        }
    }
}
