// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellWire

/// Bounds how many users come by the sign-in page: each costs the hash of a password, and stays.
final class SignUpPace: Sendable {
    /// The time over which they are counted.
    static let window = Duration.seconds(3600)

    private struct State {
        var since: Duration
        var all = 0
        /// As many as ``all`` at most.
        var byAddress: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let limits: ShareLimits
    private let elapsed: @Sendable () -> Duration

    /// Creates a count of nobody.
    init(limits: ShareLimits, elapsed: @escaping @Sendable () -> Duration) {
        self.limits = limits
        self.elapsed = elapsed
        state = Mutex(State(since: elapsed()))
    }

    /// Counts an attempt, or fails with `THROTTLED`; names that are taken count, too, or whoever asks
    /// would learn who is here.
    ///
    /// - Parameter address: Nil where addresses distinguish nobody.
    func count(_ address: CountedAddress?) throws {
        let now = elapsed()
        try state.withLock { state in
            if now - state.since >= Self.window { state = State(since: now) }
            let wait = (state.since + Self.window - now) / .seconds(1)
            guard state.all < limits.signUps else { throw Self.refusal(.signUps, wait) }
            if let address = address?.sharing {
                let count = state.byAddress[address] ?? 0
                guard count < limits.signUpsPerAddress else {
                    throw Self.refusal(.signUpsPerAddress, wait)
                }
                state.byAddress[address] = count + 1
            }
            state.all += 1
        }
    }

    private static func refusal(_ bound: WireError.Bound, _ wait: Double) -> WireError {
        WireError(
            .throttled, "there are many new users this hour: try again later", retryAfter: wait
        ).naming(bound)
    }
}
