// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore

/// The devices that read what they missed from the log: few at a time, users in turn, so that a crowd
/// which comes back after an outage needs the memory and the store's readers of few.
final class CatchUps: Sendable {
    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running = 0
        var waiting = Turns<UserID, Waiter>()
        var lastID: UInt64 = 0
    }

    private let atOnce: Int
    private let state = Mutex(State())

    /// - Parameter atOnce: The most that read at the same time.
    init(atOnce: Int) { self.atOnce = max(1, atOnce) }

    /// How many wait for their turn.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    /// Reads a page when the user's turn has come; throws `CancellationError` where the task is
    /// cancelled while it waits.
    func read<Page>(for user: UserID, _ body: () async throws -> Page) async throws -> Page {
        try await enter(user)
        defer { leave() }
        return try await body()
    }

    private func enter(_ user: UserID) async throws {
        let id = state.withLock { state -> UInt64? in
            if state.running < atOnce {
                state.running += 1
                return nil
            }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(Waiter(id: id, continuation: continuation), of: user)
                // It may have been cancelled before it waited.
                if Task.isCancelled { giveUp(id) }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func wait(_ waiter: Waiter, of user: UserID) {
        let isNext = state.withLock { state in
            // Somebody may have left since it was looked at.
            guard state.running >= atOnce else {
                state.running += 1
                return true
            }
            state.waiting.enter(waiter, as: user)
            return false
        }
        if isNext { waiter.continuation.resume() }
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { $0.waiting.remove { $0.id == id } }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func leave() {
        let next = state.withLock { state -> Waiter? in
            // Whoever is next takes over the place.
            if let next = state.waiting.next() { return next }
            state.running -= 1
            return nil
        }
        next?.continuation.resume()
    }
}
