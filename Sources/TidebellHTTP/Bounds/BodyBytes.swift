// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Bounds the bytes of bodies, of requests and of answers, that are in memory at a time: an
/// answer is, until its receiver has taken it.
package final class BodyBytes: Sendable {
    /// The wait that a refused client is given, in seconds.
    private static let retryAfter = 2.0

    private let limits: ShareLimits

    private struct State {
        var total = 0
        /// Those of callers without a user.
        var strangers = 0
        var callers: [Caller: Int] = [:]

        mutating func add(_ bytes: Int, of caller: Caller?) {
            guard bytes > 0 else { return }
            total += bytes
            if caller.isStranger { strangers += bytes }
            if let caller { callers[caller, default: 0] += bytes }
        }
    }

    private let state = Mutex(State())

    init(limits: ShareLimits) { self.limits = limits }

    /// Bytes of an answer, or of the body of a sign-in, that are not worth counting: a
    /// connection has as many in its buffers.
    static let uncounted = 4096

    /// The bytes of one body, given back with the last reference.
    package final class Share: Sendable {
        private let all: BodyBytes
        private let caller: Caller?
        private let count = Mutex(0)
        /// What may still come without being counted.
        private let uncounted: Mutex<Int>

        fileprivate init(_ all: BodyBytes, _ caller: Caller?, uncounted: Int = 0) {
            self.all = all
            self.caller = caller
            self.uncounted = Mutex(uncounted)
        }

        /// Counts bytes that have come, or fails with `TRY_AGAIN_LATER` or `THROTTLED`.
        package func add(_ bytes: Int) throws {
            let counted = uncounted.withLock { uncounted in
                let free = min(uncounted, bytes)
                uncounted -= free
                return bytes - free
            }
            guard counted > 0 else { return }
            try all.add(counted, of: caller)
            count.withLock { $0 += counted }
        }

        /// Counts the bytes of an answer that is about to be made instead of those of its
        /// request, or fails as ``add(_:)`` does; the caller's only answer always fits.
        func replace(byAnswer bytes: Int) throws {
            giveBack()
            try addAnswer(bytes, mayBeRefused: true)
        }

        /// Counts the bytes of an answer. One that may be refused fails as ``add(_:)`` does,
        /// but for the caller's only one: that fits whatever its size.
        fileprivate func addAnswer(_ bytes: Int, mayBeRefused: Bool) throws {
            try all.addAnswer(bytes, of: caller, mayBeRefused: mayBeRefused)
            count.withLock { $0 += bytes }
        }

        /// Gives the bytes back before the last reference goes: nobody needs them any more.
        func giveBack() {
            let bytes = count.withLock { count in
                defer { count = 0 }
                return count
            }
            all.remove(bytes, of: caller)
        }

        deinit { giveBack() }
    }

    /// Returns the share of a body that is about to be read.
    package func share(of caller: Caller?) -> Share { Share(self, caller) }

    /// Returns the share of the body of a sign-in, which costs nobody anything while it is
    /// short: otherwise whoever fills the strangers' part would keep everybody out.
    func shareOfSignIn(of caller: Caller?) -> Share {
        Share(self, caller, uncounted: Self.uncounted)
    }

    /// Returns the share of an answer that is about to be sent; nil for a small one.
    func share(ofAnswer bytes: Int, to caller: Caller?, mayBeRefused: Bool) throws -> Share? {
        guard bytes > Self.uncounted else { return nil }
        let share = share(of: caller)
        try share.addAnswer(bytes, mayBeRefused: mayBeRefused)
        return share
    }

    /// The bytes in memory now.
    package var current: Int { state.withLock { $0.total } }

    private func add(_ bytes: Int, of caller: Caller?) throws {
        try state.withLock { state in
            if let refusal = refusal(of: bytes, of: caller, isOnly: false, in: state) {
                throw refusal
            }
            state.add(bytes, of: caller)
        }
    }

    private func addAnswer(_ bytes: Int, of caller: Caller?, mayBeRefused: Bool) throws {
        try state.withLock { state in
            // Small requests beside this one do not matter.
            let isOnly = caller.map { state.callers[$0, default: 0] <= Self.uncounted }
            if mayBeRefused,
                let refusal = refusal(of: bytes, of: caller, isOnly: isOnly ?? false, in: state)
            {
                throw refusal
            }
            state.add(bytes, of: caller)
        }
    }

    private func refusal(
        of bytes: Int, of caller: Caller?, isOnly: Bool, in state: State
    ) -> WireError? {
        let isStranger = caller.isStranger
        let bound = isStranger ? limits.bodyBytes / 2 : limits.bodyBytes
        guard (isStranger ? state.strangers : state.total) + bytes <= bound,
            state.total + bytes <= limits.bodyBytes
        else {
            return WireError(
                .tryAgainLater,
                "the bodies of requests and answers under way already have \(bound) bytes "
                    + "(bodyBytes): try again",
                retryAfter: Self.retryAfter
            ).naming(.bodyBytes)
        }
        guard let caller, !isOnly,
            state.callers[caller, default: 0] + bytes > limits.bodyBytesPerCaller
        else { return nil }
        return WireError(
            .throttled,
            "the bodies of your requests and answers under way already have "
                + "\(limits.bodyBytesPerCaller) bytes (bodyBytesPerCaller): send fewer at a time, "
                + "and read the answers",
            retryAfter: Self.retryAfter
        ).naming(.bodyBytesPerCaller)
    }

    private func remove(_ bytes: Int, of caller: Caller?) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.total -= bytes
            if caller.isStranger { state.strangers -= bytes }
            if let caller, let own = state.callers[caller] {
                invariant(own >= bytes, "a caller gives back no more bytes than it has")
                state.callers[caller] = own > bytes ? own - bytes : nil
            }
            invariant(
                state.strangers >= 0 && state.strangers <= state.total
                    && (state.total > 0 || state.callers.isEmpty),
                "the bytes of all callers are those in memory"
            )
        }
    }
}
