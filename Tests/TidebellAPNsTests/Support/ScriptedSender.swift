// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import TidebellAPNs
import TidebellCore

@testable import TidebellTesting

/// A wire whose answers follow from a seed.
final class ScriptedSender: APNsSender {
    private struct State {
        var taken: [String: [String]] = [:]
        var answers = 0
        var underWay: [String: Int] = [:]
        var mostUnderWay = 0
        var isBehaving = false
        var prescribed: [APNsAnswer] = []
        var duringNext: (@Sendable () async -> Void)?
    }

    private static let answers: [APNsAnswer] = [
        .status(503, reason: "ServiceUnavailable"), .status(429, reason: "TooManyRequests"),
        .status(500, reason: "InternalServerError", retryAfter: .seconds(20)),
        .status(403, reason: "InvalidProviderToken"), .status(404),
        .status(429, reason: "TooManyProviderTokenUpdates"),
        .status(410, reason: "Unregistered", invalidSince: Instant(rawValue: 0)),
        .silence(.lost), .silence(.unreachable), .silence(.timedOut),
    ]

    private let state = Mutex(State())
    private let random: Mutex<SeededGenerator>

    init(seed: UInt64) {
        random = Mutex(SeededGenerator(seed: seed))
    }

    /// The IDs that were taken, by token, in order.
    var taken: [String: [String]] { state.withLock { $0.taken } }

    /// Requests answered so far.
    var answerCount: Int { state.withLock { $0.answers } }

    /// The most requests under way for one token at a time.
    var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

    /// Takes everything from now on, after it gave these answers.
    func behave(after answers: [APNsAnswer] = []) {
        state.withLock { state in
            state.isBehaving = true
            state.prescribed = answers
        }
    }

    /// What happens while the next request is under way.
    func duringNextRequest(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.duringNext = body }
    }

    func send(
        _ request: APNsRequest, authorization: String, to gateway: APNsGateway
    ) async -> APNsAnswer {
        state.withLock { state in
            state.underWay[request.token, default: 0] += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay[request.token] ?? 0)
        }
        let duringThis = state.withLock { state in
            defer { state.duringNext = nil }
            return state.duringNext
        }
        await duringThis?()
        let dice = random.withLock { $0.next() }
        for _ in 0..<(dice >> 32) % 8 { await Task.yield() }
        return state.withLock { state in
            state.underWay[request.token, default: 1] -= 1
            state.answers += 1
            if !state.prescribed.isEmpty { return state.prescribed.removeFirst() }
            let isTrouble = !state.isBehaving && dice % 3 == 0
            let answer =
                isTrouble ? Self.answers[Int(dice >> 8) % Self.answers.count] : .status(200)
            // An answer that was lost: it may have been taken all the same.
            if !isTrouble || (answer == .silence(.lost) && dice % 2 == 0) {
                state.taken[request.token, default: []].append(request.id)
            }
            return answer
        }
    }

    func close() async {}
}
