// SPDX-License-Identifier: Apache-2.0

/// When a device connects again after its stream was lost: soon at first, then later and
/// later; scattered, so that a server that comes back is not met by all devices at once.
struct ReconnectSchedule: Sendable {
    /// The waits the device decides on itself.
    static let backoff = Backoff(
        first: .milliseconds(100), longest: .seconds(30), spread: .shorter
    )
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
        failures += 1
        let asked = min(max(retryAfter ?? 0, 0), Self.longestRetryAfter.seconds)
        return Self.backoff.wait(after: failures, atLeast: .seconds(asked), jitter: jitter)
    }
}

extension Duration {
    /// The duration as a number of seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
