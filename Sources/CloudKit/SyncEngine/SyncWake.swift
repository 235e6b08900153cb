// SPDX-License-Identifier: Apache-2.0

/// Wakes the one task that waits for something to do; a sign that comes early is kept.
final class SyncWake: Sendable {
    private struct State {
        var isSet = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Wakes the task that waits, or the next one that will.
    func set() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            if state.waiting == nil { state.isSet = true }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Returns once it was set since the last wait, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    guard state.isSet || Task.isCancelled else {
                        state.waiting = continuation
                        return false
                    }
                    state.isSet = false
                    return true
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            set()
        }
    }
}
