// SPDX-License-Identifier: Apache-2.0

/// When a device connects again after its stream was lost: soon at first, then later and
/// later; scattered, so that a server that comes back is not met by all devices at once.
struct ReconnectSchedule: Sendable {
    /// The longest first wait; doubles with each further one.
    static let firstDelay = Duration.milliseconds(100)
    /// The longest wait the device decides on itself.
    static let longestDelay = Duration.seconds(30)
    /// The longest wait a server can ask for.
    static let longestRetryAfter = Duration.seconds(3600)

    private var failures = 0

    /// Starts anew after a connection that worked.
    mutating func reset() {
        failures = 0
    }

    /// Returns the wait before the next attempt.
    ///
    /// - Parameters:
    ///   - retryAfter: The seconds the server asked for, which are kept to.
    ///   - jitter: A random number from 0 to 1: how much of the second half of the wait
    ///     is waited.
    mutating func delay(retryAfter: Double?, jitter: Double) -> Duration {
        let doublings = min(failures, 20)  // beyond every bound, and no overflow
        failures += 1
        let most = min(Self.firstDelay * (1 << doublings), Self.longestDelay)
        let delay = most * (0.5 + 0.5 * min(max(jitter, 0), 1))
        guard let retryAfter, retryAfter > 0 else { return delay }
        let asked = Duration.seconds(min(retryAfter, Self.longestRetryAfter.seconds))
        return max(delay, asked)
    }
}

extension Duration {
    /// The duration as a number of seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
