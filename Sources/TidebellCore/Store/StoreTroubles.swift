// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Knows whether calls meet a full or failing disk or a lock, and notifies once when that begins
/// and once when it is over; and of damage that was mended.
package final class StoreTroubles: Sendable {
    /// What an observer receives.
    package enum News: Sendable, Hashable {
        case began(StoreUnavailable)
        case ended
        case mended(StoreMend)
    }

    /// How long nothing may have failed until the trouble is over: on a full disk small writes
    /// still come through between large ones that do not.
    package static let quietTime = Duration.seconds(10)

    private struct State {
        var present: StoreUnavailable?
        var lastFailure: Duration?
        var observer: (@Sendable (News) -> Void)?
        /// What was mended before anybody observed.
        var earlierMends: [StoreMend] = []
    }

    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration

    /// Creates troubles that nobody observes yet.
    ///
    /// - Parameter elapsed: What the quiet time is measured with, as of ``Time``.
    package init(elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
    }

    /// What is in the way; nil while nothing is.
    package var present: StoreUnavailable? { state.withLock { $0.present } }

    /// Calls `observer` from now on, first with what was mended while the store was opened, and what is in the way; it
    /// must not block, nor write into the store.
    package func observe(_ observer: @escaping @Sendable (News) -> Void) {
        let (mends, present) = state.withLock { state in
            defer { state.earlierMends = [] }
            state.observer = observer
            return (state.earlierMends, state.present)
        }
        for mend in mends { observer(.mended(mend)) }
        if let present { observer(.began(present)) }
    }

    /// Notes that a call failed.
    package func note(_ error: any Error) {
        guard let error = error as? StoreUnavailable else { return }
        let moment = elapsed()
        let observer = state.withLock { state -> (@Sendable (News) -> Void)? in
            defer {
                state.present = error
                state.lastFailure = moment
            }
            return state.present == nil ? state.observer : nil
        }
        observer?(.began(error))
    }

    /// Notes what was found to be damaged, and is mended.
    package func note(_ mend: StoreMend) {
        let observer = state.withLock { state in
            if state.observer == nil { state.earlierMends.append(mend) }
            return state.observer
        }
        observer?(.mended(mend))
    }

    /// Notes that something was written.
    package func noteSuccess() { noteSuccess { _ in true } }

    /// Notes that something was read, from a store that may be away: who reads from a full disk knows nothing of it.
    package func noteReading() { noteSuccess { $0.cause == .isUnreachable } }

    private func noteSuccess(_ ends: (StoreUnavailable) -> Bool) {
        let observer = state.withLock { state -> (@Sendable (News) -> Void)? in
            guard let last = state.lastFailure, let present = state.present, ends(present) else {
                return nil
            }
            guard elapsed() - last >= Self.quietTime else { return nil }
            state.present = nil
            return state.observer
        }
        observer?(.ended)
    }
}
