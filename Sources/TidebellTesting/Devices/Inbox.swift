// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The pushes a device received, in order, and how many of them the test took.
final class Inbox: Sendable {
    private struct State {
        var received: [ReceivedPush] = []
        var taken = 0
        var ids: Set<String> = []
    }

    private let state = Mutex(State())

    /// Everything received.
    var received: [ReceivedPush] { state.withLock { $0.received } }

    /// What the test did not take yet.
    var pending: [ReceivedPush] { state.withLock { Array($0.received[$0.taken...]) } }

    /// Whether a notification was received.
    func contains(_ notificationID: String) -> Bool {
        state.withLock { $0.ids.contains(notificationID) }
    }

    /// Adds a push.
    func add(_ push: ReceivedPush) {
        state.withLock { state in
            state.received.append(push)
            if let id = push.notificationID { state.ids.insert(id) }
        }
    }

    /// Takes the oldest push that was not taken yet.
    func take() -> ReceivedPush? {
        state.withLock { state in
            guard state.taken < state.received.count else { return nil }
            state.taken += 1
            return state.received[state.taken - 1]
        }
    }

    /// Takes all that are left.
    func takeAll() -> [ReceivedPush] {
        state.withLock { state in
            defer { state.taken = state.received.count }
            return Array(state.received[state.taken...])
        }
    }
}
