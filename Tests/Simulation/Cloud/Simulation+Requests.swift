// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import HTTPTypes

/// A change that was sent under a request ID.
struct SentRequest: Sendable {
    var id: String
    var action: Action
    var target: String
    var body: [UInt8]
    var sentAt: Instant
    /// What the server must answer each time; nil where the change did not become durable.
    var expected: Answer?
    /// What it answered, as far as that arrived.
    var answer: [UInt8]?
}

/// Requests that are sent again: by a client that got no answer, or by one that got it long ago.
extension Simulation {
    /// Sends a request again, counted from the newest: it is done once, and has one answer.
    func sendAgain(_ number: Int) async throws {
        let oldest = now.advanced(by: .zero - Limits().answerRetention)
        requests.removeAll { $0.sentAt <= oldest }
        guard !requests.isEmpty else { return }
        let index = max(0, requests.count - 1 - number)
        let request = requests[index]
        guard let expected = request.expected else {
            // It was lost before anything was done: this does it.
            requests.remove(at: index)
            try await change(request.action, as: request.id)
            return
        }
        // What fails as a whole leaves nothing, and may work now.
        if case .refused = expected { return }
        let body = try await call(.post, request.target, request.body, as: request.id)
        let answer = try Answer(body, to: request.action)
        try demand(
            answer == expected, "a request that came again was answered \(answer), not \(expected)")
        try demand(
            request.answer ?? body == body, "a request that came again has another answer")
        requests[index].answer = body
        // Nothing was done a second time.
        try await findEntries()
    }
}
