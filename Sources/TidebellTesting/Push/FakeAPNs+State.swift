// SPDX-License-Identifier: Apache-2.0
import TidebellWire
import Synchronization
import Foundation

extension FakeAPNs {
    /// What a test ordered the fake to do instead of what it should.
    struct Order {
        enum Deed {
            case refuse(Refusal), hangUp, goAway
        }

        var deed: Deed
        /// How often still; nil for always.
        var left: Int?
        /// The device tokens it is about; nil for all.
        var tokens: Set<String>?
    }

    struct State {
        var received: [Push] = []
        var taken = 0
        var answers: [String] = []
        var orders: [Order] = []
        var isHolding = false
        var held: [@Sendable () -> Void] = []

        /// Takes the oldest push that was not taken yet.
        mutating func take() -> Push? {
            guard taken < received.count else { return nil }
            taken += 1
            return received[taken - 1]
        }

        /// Takes the newest order that is about a device token.
        mutating func takeOrder(for token: String) -> Order.Deed? {
            guard let index = orders.lastIndex(where: { $0.tokens?.contains(token) ?? true })
            else { return nil }
            let deed = orders[index].deed
            if let left = orders[index].left {
                orders[index].left = left - 1
                if left <= 1 { orders.remove(at: index) }
            }
            return deed
        }
    }

    /// What the server does with a request.
    enum Reaction: Sendable {
        case answer(status: Int, id: String, body: [UInt8], retryAfter: Int?)
        case hangUp, goAway
    }

    /// Deals with a request and calls `react` with what to do, now or when the test
    /// releases it.
    func receive(_ request: APNsMessage, react: @escaping @Sendable (Reaction) -> Void) {
        let isHeld = state.withLock { state in
            guard state.isHolding else { return false }
            // Weakly: a fake that its test let go of answers nobody.
            state.held.append { [weak self] in
                if let self { react(self.reaction(to: request)) }
            }
            return true
        }
        if isHeld { changes.notify() } else { react(reaction(to: request)) }
    }

    private func reaction(to request: APNsMessage) -> Reaction {
        defer { changes.notify() }
        switch state.withLock({ $0.takeOrder(for: request.deviceToken) }) {
        case .refuse(let refusal): return answer(refusal, to: request)
        case .hangUp: return .hangUp
        case .goAway: return .goAway
        case nil: break
        }
        switch rules.judge(request) {
        case .failure(let refusal): return answer(refusal, to: request)
        case .success(let push):
            state.withLock { state in
                state.received.append(push)
                state.answers.append("200")
            }
            return .answer(status: 200, id: request.answerID, body: [], retryAfter: nil)
        }
    }

    private func answer(_ refusal: Refusal, to request: APNsMessage) -> Reaction {
        state.withLock { $0.answers.append(refusal.words) }
        return .answer(
            status: refusal.status, id: request.answerID, body: refusal.body,
            retryAfter: refusal.retryAfter
        )
    }
}

extension FakeAPNs.Refusal: Error {
    /// Apple's JSON.
    fileprivate var body: [UInt8] {
        guard !reason.isEmpty else { return [] }
        return JSONWriter.write { writer in
            writer.object { writer in
                writer.member("reason", reason)
                if let timestamp {
                    writer.member("timestamp", Int64(timestamp.timeIntervalSince1970 * 1000))
                }
            }
        }
    }
}
