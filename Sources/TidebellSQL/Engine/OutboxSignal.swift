// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Signals to all who listen that the outbox has something new, that an access ended, or that a
/// hierarchy is to be settled.
package final class OutboxSignal: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextListener = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Nobody listens.
    package init() {}

    /// Returns a stream that yields after each signal, keeping at most one back.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1)
        )
        let listener: Int? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        guard let listener else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(listener) }
        return stream
    }

    /// Signals.
    package func yield() {
        for continuation in state.withLock({ Array($0.listeners.values) }) {
            continuation.yield()
        }
    }

    /// Ends all streams, and those asked for later.
    package func finish() {
        let continuations = state.withLock { state in
            state.isFinished = true
            return Array(state.listeners.values)
        }
        for continuation in continuations { continuation.finish() }
    }

    private func remove(_ listener: Int) {
        _ = state.withLock { $0.listeners.removeValue(forKey: listener) }
    }
}
