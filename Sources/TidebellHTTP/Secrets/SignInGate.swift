// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import TidebellCore
import TidebellWire

/// Where passwords are checked: one at a time, apart from the threads that answer
/// requests, and not many times for one account.
package final class SignInGate: Sendable {
    /// The most sign-ins that wait for their turn.
    package static let maximumWaiting = 16
    /// The wait a client is told when more come.
    private static let retryAfter = 2.0

    private struct State {
        var attempts = SignInAttempts()
        var waiting = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.tidebell.passwords", qos: .utility)

    /// Creates a gate.
    package init() {}

    /// Returns whether the password is the one that was hashed.
    ///
    /// Fails with `THROTTLED` after many wrong ones for the name, with
    /// `TRY_AGAIN_LATER` when too many sign-ins wait.
    func matches(
        _ password: String, _ hash: String?, of name: String, at now: Instant
    ) async throws -> Bool {
        try state.withLock { state in
            guard state.waiting < Self.maximumWaiting else {
                throw WireError(
                    .tryAgainLater, "many sign-ins are waiting: try again",
                    retryAfter: Self.retryAfter
                )
            }
            try state.attempts.begin(name, at: now)
            state.waiting += 1
        }
        defer { state.withLock { $0.waiting -= 1 } }
        let matches = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try Password.matches(password, hash) })
            }
        }
        if matches { state.withLock { $0.attempts.succeeded(name) } }
        return matches
    }
}
