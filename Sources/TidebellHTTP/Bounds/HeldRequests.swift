// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Bounds the requests that are held open: device streams and courier polls, and
/// likewise transfers of files.
package final class HeldRequests: Sendable {
    /// The most requests held at a time, unless the operator sets another number.
    package static let defaultCapacity = 10_000
    /// How long a refused client should wait.
    private static let retryAfter = 30.0

    private let capacity: Int
    private let share: Int
    /// The most of all callers without a user together.
    private let strangersShare: Int
    private let kind: Kind

    /// What is held.
    package enum Kind: String, Sendable {
        case streams = "streams and polls"
        case uploads = "uploads of files"
        case downloads = "downloads of files"

        /// The bound of all, and that of one caller.
        fileprivate var bounds: (all: WireError.Bound, caller: WireError.Bound) {
            switch self {
            case .streams: (.heldRequests, .heldRequestsPerCaller)
            case .uploads, .downloads: (.transfers, .transfersPerCaller)
            }
        }
    }

    private struct State {
        var count = 0
        var strangers = 0
        var callers: [Caller: Int] = [:]
    }

    private let state = Mutex(State())

    /// Creates a bound of requests of a kind.
    ///
    /// - Parameters:
    ///   - share: The most of one caller.
    ///   - strangersShare: The most of all callers without a user together; nil for no such bound.
    package init(
        capacity: Int = HeldRequests.defaultCapacity,
        share: Int = ShareLimits().heldRequestsPerCaller, strangersShare: Int? = nil,
        of kind: Kind = .streams
    ) {
        self.capacity = capacity
        self.share = share
        self.strangersShare = strangersShare ?? capacity
        self.kind = kind
    }

    /// A slot among the held requests, given back with its last reference.
    package final class Slot: Sendable {
        private let requests: HeldRequests
        private let caller: Caller?

        fileprivate init(_ requests: HeldRequests, _ caller: Caller?) {
            self.requests = requests
            self.caller = caller
        }

        deinit { requests.giveBack(caller) }
    }

    /// Returns a slot, or fails with `TRY_AGAIN_LATER` when all are taken, with
    /// `THROTTLED` when the caller has its share of them.
    package func takeSlot(for caller: Caller?) throws -> Slot {
        let refusal = state.withLock { state -> WireError? in
            let isStranger = caller.isStranger
            guard state.count < capacity, !isStranger || state.strangers < strangersShare else {
                let most = state.count < capacity ? strangersShare : capacity
                return WireError(
                    .tryAgainLater,
                    "the server already holds \(most) \(kind.rawValue)"
                        + (state.count < capacity ? " of callers that are not signed in" : ""),
                    retryAfter: Self.retryAfter
                ).naming(kind.bounds.all)
            }
            if let caller {
                let own = state.callers[caller, default: 0]
                guard own < share else {
                    return WireError(
                        .throttled, "the server already holds \(share) \(kind.rawValue) of yours",
                        retryAfter: Self.retryAfter
                    ).naming(kind.bounds.caller)
                }
                state.callers[caller] = own + 1
            }
            state.count += 1
            if isStranger { state.strangers += 1 }
            return nil
        }
        if let refusal { throw refusal }
        return Slot(self, caller)
    }

    /// The number of requests held now.
    package var current: Int { state.withLock { $0.count } }

    private func giveBack(_ caller: Caller?) {
        state.withLock { state in
            state.count -= 1
            if caller.isStranger { state.strangers -= 1 }
            if let caller, let own = state.callers[caller] {
                state.callers[caller] = own > 1 ? own - 1 : nil
            }
            invariant(
                state.strangers >= 0 && state.strangers <= state.count
                    && (state.count > 0 || state.callers.isEmpty),
                "the requests of all callers are those that are held"
            )
        }
    }
}
