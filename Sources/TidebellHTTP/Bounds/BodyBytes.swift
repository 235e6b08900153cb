// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWire

/// Bounds the bytes of request bodies that are in memory at a time.
package final class BodyBytes: Sendable {
    /// The wait a refused client is told, in seconds.
    private static let retryAfter = 2.0

    private let limits: ShareLimits
    private let metrics: HTTPMetrics

    private struct State {
        var total = 0
        /// Those of callers who are no users.
        var strangers = 0
        var callers: [Caller: Int] = [:]
    }

    private let state = Mutex(State())

    init(limits: ShareLimits, metrics: HTTPMetrics) {
        self.limits = limits
        self.metrics = metrics
    }

    /// The bytes of one body, given back with the last reference.
    package final class Share: Sendable {
        private let all: BodyBytes
        private let caller: Caller?
        private let count = Mutex(0)

        fileprivate init(_ all: BodyBytes, _ caller: Caller?) {
            self.all = all
            self.caller = caller
        }

        /// Counts bytes that have come, or fails with `TRY_AGAIN_LATER` or `THROTTLED`.
        package func add(_ bytes: Int) throws {
            try all.add(bytes, of: caller)
            count.withLock { $0 += bytes }
        }

        deinit { all.remove(count.withLock { $0 }, of: caller) }
    }

    /// Returns the share of a body that is about to be read.
    package func share(of caller: Caller?) -> Share { Share(self, caller) }

    /// The bytes in memory now.
    package var current: Int { state.withLock { $0.total } }

    private static func isStranger(_ caller: Caller?) -> Bool {
        if case .user = caller { false } else { true }
    }

    private func add(_ bytes: Int, of caller: Caller?) throws {
        let refusal = state.withLock { state -> WireError? in
            let isStranger = Self.isStranger(caller)
            let bound = isStranger ? limits.bodyBytes / 2 : limits.bodyBytes
            guard (isStranger ? state.strangers : state.total) + bytes <= bound,
                state.total + bytes <= limits.bodyBytes
            else {
                return WireError(
                    .tryAgainLater,
                    "the bodies of requests under way already have \(bound) bytes: try again",
                    retryAfter: Self.retryAfter
                )
            }
            if let caller {
                let own = state.callers[caller, default: 0] + bytes
                guard own <= limits.bodyBytesPerCaller else {
                    return WireError(
                        .throttled,
                        "the bodies of your requests under way already have "
                            + "\(limits.bodyBytesPerCaller) bytes: send fewer at a time",
                        retryAfter: Self.retryAfter
                    )
                }
                state.callers[caller] = own
            }
            state.total += bytes
            if isStranger { state.strangers += bytes }
            return nil
        }
        guard let refusal else { return }
        metrics.refused(.bodyBytes)
        throw refusal
    }

    private func remove(_ bytes: Int, of caller: Caller?) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.total -= bytes
            if Self.isStranger(caller) { state.strangers -= bytes }
            guard let caller, let own = state.callers[caller] else { return }
            state.callers[caller] = own > bytes ? own - bytes : nil
        }
    }
}
