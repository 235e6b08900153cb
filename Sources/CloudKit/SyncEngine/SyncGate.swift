// SPDX-License-Identifier: Apache-2.0

/// Lets one task through at a time, in the order in which they came.
///
/// Waiting is not cut short by cancellation: what a cancelled sync has to tell is told.
final class SyncGate: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Calls `body` while no one else is inside.
    func enter<Value>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async -> Value
    ) async -> Value {
        await take()
        defer { leave() }
        return await body()
    }

    private func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
