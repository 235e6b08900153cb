// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPush
import TidebellScheduling

/// Makes the cursors of many targets durable in one transaction: whatever comes
/// while one is written shares the next.
///
/// Bounded by the number of targets: each has at most one cursor waiting.
final class APNsCursors: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var positions: [PushTargetKey: NotificationSequence] = [:]
        var waiters: [Waiter] = []
        var isClosed = false
    }

    private let store: any Store
    private let wake = WakeSignal()
    private let state = Mutex(State())

    /// Creates cursors of which none waits; ``run()`` writes them.
    init(store: any Store) {
        self.store = store
    }

    /// Notes how far a target has come; soon durable.
    func note(_ target: PushTargetKey, at sequence: NotificationSequence) {
        state.withLock { $0.positions[target] = sequence }
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

    /// Writes until the task is cancelled; whoever waits then fails.
    func run() async {
        while await wake.wait() {
            let (positions, waiters) = state.withLock { state in
                defer { (state.positions, state.waiters) = ([:], []) }
                return (state.positions, state.waiters)
            }
            let result = await write(positions)
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
        _ positions: [PushTargetKey: NotificationSequence]
    ) async -> Result<Void, any Error> {
        guard !positions.isEmpty else { return .success(()) }
        do {
            try await store.write(.batch) { try $0.movePushTargets(positions) }
            return .success(())
        } catch {
            // The next write takes them along, except where a target went on.
            state.withLock { $0.positions.merge(positions) { newer, _ in newer } }
            return .failure(error)
        }
    }
}
