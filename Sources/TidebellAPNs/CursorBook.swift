// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPush
import TidebellScheduling

/// Makes the places of many targets durable in one transaction: whatever comes
/// while one is written shares the next.
///
/// Bounded by who writes: a target has at most one place waiting.
final class CursorBook: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var places: [PushTargetKey: NotificationSequence] = [:]
        var waiters: [Waiter] = []
        var isClosed = false
    }

    private let store: any Store
    private let wake = WakeSignal()
    private let state = Mutex(State())

    /// Creates an empty book; ``run()`` writes it.
    init(store: any Store) {
        self.store = store
    }

    /// Notes how far a target has come; soon durable.
    func note(_ target: PushTargetKey, at sequence: NotificationSequence) {
        state.withLock { $0.places[target] = sequence }
        wake.raise()
    }

    /// Returns when everything noted before is durable.
    func flush() async throws {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
            let isOpen = state.withLock { state in
                if !state.isClosed { state.waiters.append(waiter) }
                return !state.isClosed
            }
            guard isOpen else { return waiter.resume(throwing: CancellationError()) }
            wake.raise()
        }
    }

    /// Writes until the task is cancelled; who waits then fails.
    func run() async {
        while await wake.wait() {
            let (places, waiters) = state.withLock { state in
                defer { (state.places, state.waiters) = ([:], []) }
                return (state.places, state.waiters)
            }
            let result = await write(places)
            for waiter in waiters { waiter.resume(with: result) }
        }
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isClosed = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    private func write(
        _ places: [PushTargetKey: NotificationSequence]
    ) async -> Result<Void, any Error> {
        guard !places.isEmpty else { return .success(()) }
        do {
            try await store.write(.batch) { try $0.movePushTargets(places) }
            return .success(())
        } catch {
            // The next write takes them along, except where a target went on.
            state.withLock { $0.places.merge(places) { newer, _ in newer } }
            return .failure(error)
        }
    }
}
