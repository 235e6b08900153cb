// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The task that passes the pieces of a stream on, which ends with the stream, also with one that ends
/// before it starts.
final class RelayPump: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Starts the task; it is cancelled at once where the stream has ended.
    func start(_ body: @escaping @Sendable () async -> Void) {
        let task = Task(operation: body)
        let hasEnded = state.withLock { state in
            state.task = task
            return state.hasEnded
        }
        if hasEnded { task.cancel() }
    }

    /// Ends the task.
    func end() {
        let task = state.withLock { state in
            state.hasEnded = true
            return state.task
        }
        task?.cancel()
    }
}
