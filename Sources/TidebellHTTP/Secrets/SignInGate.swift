// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import TidebellCore
package import TidebellScheduling
import TidebellWire

/// Where passwords are checked: one at a time, apart from the threads that answer
/// requests, and not many times for one account.
///
/// ``SignInLine`` decides which of those that wait is next, so that a crowd from one address
/// counts as one of them.
package final class SignInGate: Sendable {
    /// The wait that a client is given when more come than can wait.
    private static let retryAfter = 2.0

    private struct Waiter {
        var id: UInt64
        var turn: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var attempts: SignInAttempts
        var line: SignInLine<Waiter>
        var isBusy = false
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>
    private let capacity: Int
    private let queue = DispatchQueue(label: "org.tidebell.passwords", qos: .utility)
    private let time: Time
    private let check: @Sendable (_ password: String, _ hash: String?) throws -> Bool

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - limits: How many wait, and how many passwords may be wrong.
    ///   - time: What waits are measured with, and waited on.
    ///   - check: What compares a password with its hash, as slowly as it likes.
    package init(
        limits: ShareLimits = ShareLimits(), time: Time,
        check: @escaping @Sendable (_ password: String, _ hash: String?) throws -> Bool = {
            try Password.matches($0, $1)
        }
    ) {
        capacity = limits.waitingSignIns
        state = Mutex(
            State(
                attempts: SignInAttempts(
                    mostFailures: limits.wrongPasswords, ofAddress: limits.wrongPasswordsPerAddress),
                line: SignInLine(capacity: limits.waitingSignIns)
            ))
        self.time = time
        self.check = check
    }

    /// The sign-ins that wait for their turn now.
    package var waiting: Int { state.withLock { $0.line.count } }

    /// Whether somebody's password is checked now.
    package var hasTurn: Bool { state.withLock { $0.isBusy } }

    /// Where an attempt with a password comes from.
    struct Origin {
        var address: CountedAddress
        /// Whether the client is there still.
        var presence: ClientPresence?

        init(_ address: CountedAddress, _ presence: ClientPresence? = nil) {
            self.address = address
            self.presence = presence
        }
    }

    /// Returns whether the password is the one that was hashed.
    ///
    /// Fails with `THROTTLED` after many wrong ones from the address, with
    /// `TRY_AGAIN_LATER` when too many sign-ins wait. A client that goes away while it
    /// waits gives up its turn: `CancellationError`. Its attempt counts as a wrong one, or
    /// whoever hangs up could have others wait for it again and again.
    func matches(
        _ password: String, _ hash: String?, of name: String, from origin: Origin
    ) async throws -> Bool {
        let address = origin.address.distinguishing
        let (delay, isKnown) = try begin(name, from: address)
        do {
            if delay > .zero { try await wait(delay, for: origin.presence) }
            try await takeTurn(from: origin, isKnown: isKnown)
        } catch let error as WireError {
            state.withLock { $0.attempts.withdrew(name, from: address) }
            throw error
        }
        defer { endTurn() }
        guard origin.presence?.hasLeft != true else { throw CancellationError() }
        let matches = try await withCheckedThrowingContinuation { continuation in
            queue.async { [check] in
                continuation.resume(with: Result { try check(password, hash) })
            }
        }
        if matches {
            let now = time.elapsed()
            state.withLock { $0.attempts.succeeded(name, from: address, at: now) }
        }
        return matches
    }

    /// Returns what `hash` makes of a new password, when its turn has come; fails as
    /// ``matches(_:_:of:from:)`` does where too many wait, or the client goes away.
    func hash(
        from origin: Origin, _ hash: @escaping @Sendable () throws -> String
    ) async throws -> String {
        try await takeTurn(from: origin, isKnown: false)
        defer { endTurn() }
        guard origin.presence?.hasLeft != true else { throw CancellationError() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try hash() }) }
        }
    }

    private func begin(
        _ name: String, from address: String?
    ) throws -> (delay: Duration, isKnown: Bool) {
        let now = time.elapsed()
        return try state.withLock { state in
            let isKnown = state.attempts.knows(name, from: address)
            return (try state.attempts.begin(name, from: address, at: now), isKnown)
        }
    }

    /// Waits as long as the client does.
    private func wait(_ delay: Duration, for presence: ClientPresence?) async throws {
        let sleep = Task { [clock = time.clock] in try await clock.sleep(for: delay) }
        let watch = presence?.onLeaving { sleep.cancel() }
        defer { withExtendedLifetime(watch) {} }
        try await withTaskCancellationHandler {
            try await sleep.value
        } onCancel: {
            sleep.cancel()
        }
    }

    private func takeTurn(from origin: Origin, isKnown: Bool) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let watch = origin.presence?.onLeaving { [weak self] in self?.giveUp(id) }
        defer { withExtendedLifetime(watch) {} }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                enter(Waiter(id: id, turn: turn), from: origin, isKnown: isKnown)
                // It may have been cancelled, or the client gone, before it waited.
                if Task.isCancelled || origin.presence?.hasLeft == true { giveUp(id) }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func enter(_ waiter: Waiter, from origin: Origin, isKnown: Bool) {
        let outcome = state.withLock { state -> (granted: Waiter?, refused: Waiter?) in
            guard state.isBusy else {
                state.isBusy = true
                return (waiter, nil)
            }
            let address = origin.address.sharing ?? ""
            return (nil, state.line.enter(waiter, from: address, goesFirst: isKnown))
        }
        outcome.granted?.turn.resume()
        guard let refused = outcome.refused else { return }
        refused.turn.resume(
            throwing: WireError(
                .tryAgainLater,
                "\(capacity) sign-ins wait for their turn already (waitingSignIns): try again",
                retryAfter: Self.retryAfter
            ).naming(.waitingSignIns)
        )
    }

    /// Removes a waiting sign-in from the line; one that has the turn keeps it.
    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { $0.line.remove { $0.id == id } }
        waiter?.turn.resume(throwing: CancellationError())
    }

    private func endTurn() {
        let next = state.withLock { state -> Waiter? in
            let next = state.line.next()
            state.isBusy = next != nil
            return next
        }
        next?.turn.resume()
    }
}
