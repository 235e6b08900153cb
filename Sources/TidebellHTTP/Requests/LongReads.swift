// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
package import TidebellCore
package import TidebellWire

/// Lets few long reads run at a time, and callers take turns at them: a caller that
/// asks for many waits for its own reads; others do not wait for them.
package final class LongReads: Sendable {
    /// Whose share a read takes.
    package enum Caller: Sendable, Hashable {
        case account(AccountID)
        /// Everybody without a user, as one.
        case anonymous(ContainerKey)
    }

    /// Seconds after which a refused caller may come back.
    static let retryAfter = 2.0

    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running: [Caller: Int] = [:]
        var waiting: [Caller: [Waiter]] = [:]
        /// The callers who wait, in the order of their turns.
        var turns: [Caller] = []
        var waitingCount = 0
        var lastID: UInt64 = 0

        var runningCount: Int { running.values.reduce(0, +) }
    }

    private let bounds: LongReadBounds
    private let atOnce: Int
    private let atOnceByCaller: Int
    private let state = Mutex(State())

    /// Creates the gate.
    package init(_ bounds: LongReadBounds) {
        self.bounds = bounds
        let processors = ProcessInfo.processInfo.activeProcessorCount
        atOnce = max(1, bounds.atOnce ?? processors / 2)
        atOnceByCaller = max(1, bounds.atOnceByCaller ?? atOnce / 2)
    }

    /// Runs a long read when its caller's turn has come; fails at once with
    /// `THROTTLED` when too many of the caller's wait, with `TRY_AGAIN_LATER` when
    /// too many of all do.
    ///
    /// A client that goes away gives up its slot: `CancellationError`. Where its read runs,
    /// that is cancelled, and the slot is free when it has ended.
    package func run<Result: Sendable>(
        for caller: Caller, presence: ClientPresence? = nil,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await enter(caller, presence)
        defer { leave(caller) }
        let read = Task { try await body() }
        let watch = presence?.onLeaving { read.cancel() }
        defer { withExtendedLifetime(watch) {} }
        return try await withTaskCancellationHandler {
            try await read.value
        } onCancel: {
            read.cancel()
        }
    }

    /// How many wait.
    package var waitingCount: Int { state.withLock(\.waitingCount) }

    private func enter(_ caller: Caller, _ presence: ClientPresence?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let watch = presence?.onLeaving { [weak self] in self?.giveUp(id, of: caller) }
        defer { withExtendedLifetime(watch) {} }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock {
                    admit(Waiter(id: id, continuation: continuation), of: caller, &$0)
                }
                switch outcome {
                case .success(true): continuation.resume()
                // It may have been cancelled, or the client gone, before it waited.
                case .success(false):
                    if Task.isCancelled || presence?.hasLeft == true { giveUp(id, of: caller) }
                case .failure(let refusal):
                    continuation.resume(throwing: refusal)
                }
            }
        } onCancel: {
            giveUp(id, of: caller)
        }
    }

    /// Whether the read may run at once, or waits.
    private func admit(
        _ waiter: Waiter, of caller: Caller, _ state: inout State
    ) -> Result<Bool, WireError> {
        let mine = state.waiting[caller]?.count ?? 0
        if mine == 0, state.runningCount < atOnce,
            state.running[caller, default: 0] < atOnceByCaller
        {
            state.running[caller, default: 0] += 1
            return .success(true)
        }
        let most = mostWaiting(of: caller)
        guard mine < most else { return .failure(.tooManyLongReads(of: caller, most)) }
        guard state.waitingCount < bounds.waiting else {
            return .failure(.tooManyLongReads(bounds.waiting))
        }
        if mine == 0 { state.turns.append(caller) }
        state.waiting[caller, default: []].append(waiter)
        state.waitingCount += 1
        return .success(false)
    }

    private func mostWaiting(of caller: Caller) -> Int {
        switch caller {
        case .account: bounds.waitingOfUser
        case .anonymous: bounds.waitingOfAnonymous
        }
    }

    private func giveUp(_ id: UInt64, of caller: Caller) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiting[caller]?.firstIndex(where: { $0.id == id }) else {
                return nil
            }
            return take(index, of: caller, &state)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    private func leave(_ caller: Caller) {
        let next = state.withLock { state -> Waiter? in
            let left = state.running[caller, default: 1] - 1
            state.running[caller] = left > 0 ? left : nil
            return nextTurn(&state)
        }
        next?.continuation.resume()
    }

    /// Takes the first waiter of the caller whose turn it is.
    private func nextTurn(_ state: inout State) -> Waiter? {
        let index = state.turns.firstIndex {
            state.running[$0, default: 0] < atOnceByCaller
        }
        guard state.runningCount < atOnce, let index else { return nil }
        let caller = state.turns[index]
        let waiter = take(0, of: caller, &state)
        // The caller's other reads wait until all other callers had their turn.
        if state.waiting[caller] != nil {
            state.turns.removeAll { $0 == caller }
            state.turns.append(caller)
        }
        state.running[caller, default: 0] += 1
        return waiter
    }

    private func take(_ index: Int, of caller: Caller, _ state: inout State) -> Waiter? {
        let waiter = state.waiting[caller]?.remove(at: index)
        state.waitingCount -= 1
        if state.waiting[caller]?.isEmpty ?? true {
            state.waiting[caller] = nil
            state.turns.removeAll { $0 == caller }
        }
        return waiter
    }
}

extension WireError {
    fileprivate static func tooManyLongReads(
        of caller: LongReads.Caller, _ most: Int
    ) -> WireError {
        let (who, bound) =
            switch caller {
            case .account: ("this user", "waitingOfUser")
            case .anonymous: ("callers without a user", "waitingOfAnonymous")
            }
        return WireError(
            .throttled,
            "\(most) long reads of \(who) wait already (longReads.\(bound)); "
                + "wait for their answers, or ask for less at a time",
            retryAfter: LongReads.retryAfter
        ).naming(.longReads)
    }

    fileprivate static func tooManyLongReads(_ most: Int) -> WireError {
        WireError(
            .tryAgainLater, "\(most) long reads wait already (longReads.waiting)",
            retryAfter: LongReads.retryAfter
        ).naming(.longReads)
    }
}
