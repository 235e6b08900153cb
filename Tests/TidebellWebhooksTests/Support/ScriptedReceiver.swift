// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWebhooks

/// A receiver without a network: answers as the test asks, and remembers what came.
final class ScriptedReceiver: WebhookPoster {
    /// What the receiver does with one try.
    enum Reaction: Sendable {
        case answer(Int, retryAfter: String? = nil)
        case unreachable
        /// Answers nothing until ``ScriptedReceiver/release()``.
        case hold
        /// Answers nothing, and is gone after ``ScriptedReceiver/release()``.
        case holdAndFail
    }

    private struct State {
        var arrived: [String] = []
        var messages: [WebhookMessage] = []
        var underWay = 0
        var underWayAtArrival: [Int] = []
        var held: [CheckedContinuation<Void, Never>] = []
        var react: @Sendable (_ id: String, _ try: Int) -> Reaction = { _, _ in .answer(200) }
    }

    private let state = Mutex(State())

    /// Sets what is done from now on; `react` gets the notification ID and the
    /// number of its try, from 1.
    func react(_ react: @escaping @Sendable (_ id: String, _ try: Int) -> Reaction) {
        state.withLock { $0.react = react }
    }

    /// The notification IDs of all tries, in the order they came.
    var arrived: [String] { state.withLock(\.arrived) }
    var messages: [WebhookMessage] { state.withLock(\.messages) }
    /// How many tries were under way when each came, with it.
    var underWayAtArrival: [Int] { state.withLock(\.underWayAtArrival) }
    var mostUnderWay: Int { underWayAtArrival.max() ?? 0 }
    var underWay: Int { state.withLock(\.underWay) }

    /// Answers everything that is held.
    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func post(
        _ message: WebhookMessage, to url: String, within timeout: Duration
    ) async throws -> WebhookAnswer {
        let reaction = state.withLock { state in
            state.arrived.append(message.id)
            state.messages.append(message)
            state.underWay += 1
            state.underWayAtArrival.append(state.underWay)
            return state.react(message.id, state.arrived.count { $0 == message.id })
        }
        defer { state.withLock { $0.underWay -= 1 } }
        switch reaction {
        case .answer(let status, let retryAfter):
            return WebhookAnswer(status: status, retryAfter: retryAfter)
        case .unreachable: throw WebhookUnreachable("connection refused")
        case .hold, .holdAndFail:
            await withCheckedContinuation { continuation in
                state.withLock { $0.held.append(continuation) }
            }
            if case .holdAndFail = reaction { throw WebhookUnreachable("connection lost") }
            return WebhookAnswer(status: 200)
        }
    }
}
