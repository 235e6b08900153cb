// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Lets one body run at a time, in the order of arrival.
final class Turnstile: Sendable {
    private struct State {
        var isBusy = false
        // Bounded by the callers of one pipeline: its loop, and whoever drains.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How many wait for their turn now.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `body` when all who came earlier are done.
    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if !state.isBusy {
                    state.isBusy = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { leave() }
        return try await body()
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
