// SPDX-License-Identifier: Apache-2.0

/// A lock for tasks: lets one body run at a time, in the order in which they came.
///
/// Unlike ``Locked`` it may be held while something is waited for. Waiting is not cut short
/// by cancellation: a body that cares looks for that itself. Not reentrant.
package final class FairLock: Sendable {
    private struct State {
        var isTaken = false
        // Bounded by the tasks that share the lock: each waits once.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Creates a lock that nobody holds.
    package init() {}

    /// How many wait for their turn now.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `body` when all earlier callers are done.
    package func withLock<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await take()
        defer { leave() }
        return try await body()
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
