// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import TidebellCore
import TidebellWire

/// Where passwords are checked: one at a time, apart from the threads that answer
/// requests, and not many times for one account.
///
/// Who waits is let in by ``SignInLine``, so that a crowd from one address is one of those
/// who wait.
package final class SignInGate: Sendable {
    /// The wait a client is told when more come than can wait.
    private static let retryAfter = 2.0

    private typealias Turn = CheckedContinuation<Void, any Error>

    private struct State {
        var attempts = SignInAttempts()
        var line = SignInLine<Turn>()
        var isBusy = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.tidebell.passwords", qos: .utility)
    private let clock: any Clock<Duration>
    private let metrics: HTTPMetrics

    /// Creates a gate.
    package init(
        clock: any Clock<Duration> = ContinuousClock(), metrics: HTTPMetrics = HTTPMetrics()
    ) {
        self.clock = clock
        self.metrics = metrics
    }

    /// The sign-ins that wait for their turn now.
    package var waiting: Int { state.withLock { $0.line.count } }

    /// Returns whether the password is the one that was hashed.
    ///
    /// Fails with `THROTTLED` after many wrong ones from the address, with
    /// `TRY_AGAIN_LATER` when too many sign-ins wait.
    func matches(
        _ password: String, _ hash: String?, of name: String, from peer: PeerAddress?,
        at now: Instant
    ) async throws -> Bool {
        // Behind a proxy on this machine an address tells nobody apart.
        let address = peer.flatMap { $0.isLoopback ? nil : $0.network }
        let (delay, isKnown) = try begin(name, from: address, at: now)
        do {
            if delay > .zero { try await clock.sleep(for: delay) }
            try await takeTurn(from: peer?.network ?? "", isKnown: isKnown)
        } catch {
            state.withLock { $0.attempts.withdrew(name, from: address) }
            throw error
        }
        defer { endTurn() }
        let matches = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try Password.matches(password, hash) })
            }
        }
        if matches {
            state.withLock { $0.attempts.succeeded(name, from: address, at: now) }
        }
        return matches
    }

    private func begin(
        _ name: String, from address: String?, at now: Instant
    ) throws -> (delay: Duration, isKnown: Bool) {
        do {
            return try state.withLock { state in
                let isKnown = state.attempts.knows(name, from: address)
                return (try state.attempts.begin(name, from: address, at: now), isKnown)
            }
        } catch {
            metrics.refused(.wrongPasswords)
            throw error
        }
    }

    private func takeTurn(from address: String, isKnown: Bool) async throws {
        try await withCheckedThrowingContinuation { (turn: Turn) in
            let outcome = state.withLock { state -> (granted: Turn?, refused: Turn?) in
                guard state.isBusy else {
                    state.isBusy = true
                    return (turn, nil)
                }
                return (nil, state.line.enter(turn, from: address, goesFirst: isKnown))
            }
            outcome.granted?.resume()
            guard let refused = outcome.refused else { return }
            metrics.refused(.waitingSignIns)
            refused.resume(
                throwing: WireError(
                    .tryAgainLater, "many sign-ins are waiting: try again",
                    retryAfter: Self.retryAfter
                )
            )
        }
    }

    private func endTurn() {
        let next = state.withLock { state -> Turn? in
            let next = state.line.next()
            state.isBusy = next != nil
            return next
        }
        next?.resume()
    }
}
