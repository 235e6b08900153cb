// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
package import TidebellWire

/// The writes that wait for a transaction of an engine, within bounds. One drain at a time takes them out.
package final class WriteQueue: Sendable {
    private struct State {
        var waiting = WaitingWrites()
        var isDraining = false
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Held while something is put on the engine's queue, so that nothing is behind ``close()``. Not
    /// ``state``'s: a drain starts at once, on another thread, and would wait for it.
    private let enqueuing = Mutex(())
    private let bounds: StoreBounds
    private let closedError: any Error

    /// Creates an empty queue; once it is closed, writes fail with `closedError`.
    package init(_ bounds: StoreBounds, closedError: any Error) {
        self.bounds = bounds
        self.closedError = closedError
    }

    /// How many writes wait.
    package var count: Int { state.withLock { $0.waiting.count } }

    /// Takes a write, which is finished later; at once, with an error, when too many wait or the queue is
    /// closed. Calls `drain` where none is under way, which puts one on the engine's queue.
    package func submit(_ write: any WaitingWrite, drain: () -> Void) {
        let refusal = enqueuing.withLock { _ -> (any Error)? in
            let (refusal, startsDrain) = enter(write)
            if startsDrain { drain() }
            return refusal
        }
        if let refusal { write.finish(refusal) }
    }

    /// Lets a write wait, or tells why it may not, and whether a drain has to be started.
    private func enter(_ write: any WaitingWrite) -> (refusal: (any Error)?, startsDrain: Bool) {
        state.withLock { state in
            guard !state.isClosed else { return (closedError, false) }
            guard state.waiting.count < bounds.waitingWrites else {
                return (bounds.tooManyWritesWait, false)
            }
            if let caller = write.caller,
                state.waiting.count(of: caller) >= bounds.waitingWritesPerCaller
            {
                return (bounds.tooManyOfCallerWait, false)
            }
            state.waiting.enter(write)
            defer { state.isDraining = true }
            return (nil, !state.isDraining)
        }
    }

    /// Calls `body`, which puts something else on the engine's queue, unless this one is closed.
    package func unlessClosed(_ body: () -> Void) -> Bool {
        enqueuing.withLock { _ in
            guard !state.withLock({ $0.isClosed }) else { return false }
            body()
            return true
        }
    }

    /// Refuses further writes; those that wait are still done.
    package func close() { enqueuing.withLock { _ in state.withLock { $0.isClosed = true } } }

    /// Takes the write whose turn it is.
    package func next() -> (any WaitingWrite)? { state.withLock { $0.waiting.next() } }

    /// Takes the first write of the next transaction, and counts how many wait then; nil ends the drain.
    package func nextOrEnd() -> (first: any WaitingWrite, waiting: Int)? {
        state.withLock { state in
            guard let first = state.waiting.next() else {
                state.isDraining = false
                return nil
            }
            return (first, state.waiting.count)
        }
    }
}

extension StoreBounds {
    /// Seconds after which one who was turned away may come back.
    private static let retryAfter = 1.0

    /// What writes get that come when too many wait.
    var tooManyWritesWait: WireError { tooMany(waitingWrites, .waitingWrites) }

    /// What reads get that come when too many wait.
    package var tooManyReadsWait: WireError { tooMany(waitingReads, .waitingReads) }

    private func tooMany(_ count: Int, _ bound: WireError.Bound) -> WireError {
        WireError(
            .tryAgainLater,
            "\(count) requests wait for the store already (\(bound.rawValue)): try again",
            retryAfter: Self.retryAfter
        ).naming(bound)
    }

    /// What a caller gets of whom too many writes wait.
    var tooManyOfCallerWait: WireError {
        WireError(
            .throttled,
            "\(waitingWritesPerCaller) of your requests wait for the store already "
                + "(waitingWritesPerCaller): send fewer at a time",
            retryAfter: Self.retryAfter
        ).naming(.waitingWritesPerCaller)
    }
}
