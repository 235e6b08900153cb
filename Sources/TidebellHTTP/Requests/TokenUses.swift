// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore

/// Remembers which tokens were used, so that one write a minute notes them all in the store:
/// an operator sees what is in use, and a request writes nothing.
///
/// What was not stored when the process is killed is lost: a minute.
package final class TokenUses: Sendable {
    /// The most tokens remembered.
    package static let capacity = 10_000

    private struct State {
        var noted: [UsedToken: Instant] = [:]
        var pending: [UsedToken: Instant] = [:]
    }

    private let state = Mutex(State())

    /// Creates an empty memory.
    package init() {}

    /// Notes a use, unless one of the same hour was noted.
    func note(_ token: UsedToken, at now: Instant) {
        state.withLock { state in
            if let noted = state.noted[token],
                noted <= now, now < noted.advanced(by: WebTokenRules.usePrecision)
            {
                return
            }
            // All of them busy: starting afresh costs each one write more. What is
            // pending stays, up to the same bound.
            if state.noted.count >= Self.capacity { state.noted = [:] }
            guard state.pending.count < Self.capacity else { return }
            state.noted[token] = now
            state.pending[token] = now
        }
    }

    /// Returns what was noted since the last call.
    package func take() -> [UsedToken: Instant] {
        state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
    }
}
