// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Whether the store can be written, found out by a tiny write that callers share: anybody
/// may ask, however often.
package final class Readiness: Sendable {
    /// How long an outcome answers for the next callers.
    static let validity = Duration.seconds(1)
    /// How long a probe may take until the store counts as one that does not answer.
    static let patience = Duration.seconds(10)

    fileprivate struct State {
        var isEnding = false
        var probeBegan: Duration?
        var checked: Duration?
        var outcome: WireError?
    }

    /// What a caller is to do.
    fileprivate enum Turn {
        case probe
        case take(WireError?)
    }

    private let state = Mutex(State())

    /// Creates a readiness of which nothing is known yet.
    package init() {}

    /// Notes that the server is about to stop: it is not ready any more, and answers all the same.
    package func noteEnd() { state.withLock { $0.isEnding = true } }

    /// Fails with the reason where writes do, and where the server is about to stop.
    ///
    /// - Parameter now: The moment on a clock that nobody sets (``Time/elapsed``).
    func check(_ store: any Store, at now: Duration) async throws {
        guard !state.withLock(\.isEnding) else {
            throw WireError(
                .tryAgainLater, "the server is about to stop",
                retryAfter: StoreUnavailable.retryAfter)
        }
        switch state.withLock({ $0.turn(at: now) }) {
        case .take(let outcome):
            if let outcome { throw outcome }
        case .probe:
            let outcome = await Self.probe(store)
            state.withLock { state in
                state.probeBegan = nil
                state.checked = now
                state.outcome = outcome
            }
            if let outcome { throw outcome }
        }
    }

    private static func probe(_ store: any Store) async -> WireError? {
        do {
            try await store.probe()
            return nil
        } catch let error as StoreUnavailable {
            return error.answer
        } catch let error as WireError {
            return error
        } catch {
            return WireError(
                .tryAgainLater, "the server's store cannot be written",
                retryAfter: StoreUnavailable.retryAfter
            )
        }
    }
}

extension Readiness.State {
    /// Decides for one caller: one of them probes, the others take what is known.
    fileprivate mutating func turn(at now: Duration) -> Readiness.Turn {
        if let probeBegan {
            guard now >= probeBegan + Readiness.patience else { return .take(outcome) }
            return .take(
                WireError(
                    .tryAgainLater, "the server's store does not answer",
                    retryAfter: StoreUnavailable.retryAfter
                )
            )
        }
        if let checked, now < checked + Readiness.validity {
            return .take(outcome)
        }
        probeBegan = now
        return .probe
    }
}
