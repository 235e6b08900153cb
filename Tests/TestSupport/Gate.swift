// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Holds tasks up until a test opens it, once and for all.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var lastID = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    /// Creates a gate that is shut.
    package init() {}

    /// Lets everybody through, now and later.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the gate opens, or the task is cancelled.
    package func wait() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThrough = state.withLock { state in
                    guard !state.isOpen, state.cancelled.remove(id) == nil else { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isThrough { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let continuation = state.waiting.removeValue(forKey: id)
                if continuation == nil { state.cancelled.insert(id) }
                return continuation
            }
            continuation?.resume()
        }
    }
}
