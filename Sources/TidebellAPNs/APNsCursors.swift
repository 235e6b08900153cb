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
    private struct Waiter {
        var target: PushTargetKey
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// How far a target has come in the log of its user.
    private struct Cursor {
        var user: UserID
        var sequence: NotificationSequence
    }

    private struct State {
        var cursors: [PushTargetKey: Cursor] = [:]
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
    func note(_ target: PushTarget, at sequence: NotificationSequence) {
        state.withLock {
            $0.cursors[target.key] = Cursor(user: target.user, sequence: sequence)
        }
        wake.raise()
    }

    /// Returns when everything noted of a target before is durable.
    func flush(_ target: PushTargetKey) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isOpen = state.withLock { state in
                let waiter = Waiter(target: target, continuation: continuation)
                if !state.isClosed { state.waiters.append(waiter) }
                return !state.isClosed
            }
            guard isOpen else { return continuation.resume(throwing: CancellationError()) }
            wake.raise()
        }
    }

    /// Writes until the task is cancelled; whoever waits then fails.
    func run() async {
        while await wake.wait() {
            let (cursors, waiters) = state.withLock { state in
                defer { (state.cursors, state.waiters) = ([:], []) }
                return (state.cursors, state.waiters)
            }
            let failed = await write(cursors)
            for waiter in waiters {
                if let user = cursors[waiter.target]?.user, let error = failed[user] {
                    waiter.continuation.resume(throwing: error)
                } else {
                    waiter.continuation.resume()
                }
            }
        }
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isClosed = true
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: CancellationError()) }
    }

    /// Returns why the cursors of some users were not written.
    private func write(_ cursors: [PushTargetKey: Cursor]) async -> [UserID: any Error] {
        let byUser = Dictionary(grouping: cursors) { $0.value.user }
        let written = await store.write(ofEach: Set(byUser.keys)) { users, transaction in
            let own = users.flatMap { byUser[$0] ?? [] }.map { ($0.key, $0.value.sequence) }
            try transaction.movePushTargets(Dictionary(uniqueKeysWithValues: own))
        }
        let failed = cursors.filter { written.failed[$0.value.user] != nil }
        // The next write takes them along, except where a target went on.
        if !failed.isEmpty {
            state.withLock { $0.cursors.merge(failed) { newer, _ in newer } }
        }
        return written.failed
    }
}
