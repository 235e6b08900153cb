// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellScheduling
import TidebellWire

/// A small call of the store that shows whether it answers, and that callers share: anybody may ask,
/// however often, and one call is under way at a time.
///
/// Nobody waits for it longer than ``patience``, whatever the store waits for.
final class StoreProbe: Sendable {
    /// How long an outcome answers for the next callers.
    static let validity = Duration.seconds(1)
    /// How long a caller waits until the store counts as one that does not answer: no longer than load balancers
    /// wait for an answer. A store waits longer for a database that is away, for the sake of requests.
    static let patience = Duration.seconds(2)

    private typealias Outcome = Result<Void, any Error>

    private struct State {
        /// When the call that is under way began.
        var began: Duration?
        /// When the last one ended.
        var ended: Duration?
        var outcome = Outcome.success(())

        /// What is known of a call that is late: why the one before failed, which is the better reason, else that it is.
        var lateOutcome: Outcome {
            if case .failure = outcome { return outcome }
            return .failure(
                WireError(
                    .tryAgainLater, "the server's store does not answer",
                    retryAfter: StoreUnavailable.Cause.isUnreachable.retryAfter))
        }
    }

    private let body: @Sendable (any Store) async throws -> Void
    private let state = Mutex(State())

    /// Creates a probe that asks `body`; nothing is known yet.
    init(_ body: @escaping @Sendable (any Store) async throws -> Void) { self.body = body }

    /// Fails as the call does; or where it does not end in time as the one before did, else with
    /// `TRY_AGAIN_LATER`.
    func check(_ store: any Store, in time: Time) async throws {
        if let known = knownOutcome(at: time.elapsed()) { return try known.get() }
        let outcome = await call(store, in: time)
        try (outcome ?? state.withLock(\.lateOutcome)).get()
    }

    /// Returns what a caller takes; nil for the one that is to call the store.
    private func knownOutcome(at now: Duration) -> Outcome? {
        state.withLock { state in
            if let began = state.began {
                return now < began + Self.patience ? state.outcome : state.lateOutcome
            }
            if let ended = state.ended, now < ended + Self.validity { return state.outcome }
            state.began = now
            return nil
        }
    }

    /// Calls the store; nil where that takes too long.
    private func call(_ store: any Store, in time: Time) async -> Outcome? {
        let (ends, end) = AsyncStream.makeStream(
            of: Outcome.self, bufferingPolicy: .bufferingNewest(1))
        // Not a child, which would be waited for: most calls of a store run to their end. There is one at a time.
        Task {
            let known = await outcome(of: store)
            note(known, at: time.elapsed())
            end.yield(known)
            end.finish()
        }
        // Where the call is: on a connection's event loop the time would be up first where all threads of the pool are busy.
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            await withTaskGroup(of: Outcome?.self) { group in
                group.addTask { await ends.first { _ in true } }
                group.addTask {
                    // Ends early only where the other one was first, or the caller is gone.
                    try? await time.clock.sleep(for: Self.patience)
                    return nil
                }
                defer { group.cancelAll() }
                return await group.next() ?? nil
            }
        }
    }

    private func outcome(of store: any Store) async -> Outcome {
        do {
            return .success(try await body(store))
        } catch {
            return .failure(error)
        }
    }

    private func note(_ outcome: Outcome, at now: Duration) {
        state.withLock { state in
            state.began = nil
            state.ended = now
            state.outcome = outcome
        }
    }
}
