// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Counts wrong passwords, so that nobody tries many.
package struct SignInAttempts: Sendable {
    /// The most wrong passwords for one account in a ``window``.
    package static let maximumFailures = 10
    /// How long a wrong password counts.
    package static let window = Duration.seconds(15 * 60)
    /// The most names counted at a time: far more than one server can check in a
    /// ``window``.
    package static let capacity = 10_000

    private struct Count {
        var failures = 0
        var since: Instant
    }

    private var counts: [String: Count] = [:]

    /// Creates a count of nothing.
    package init() {}

    /// Counts an attempt as failed before it is made, so that many at once count, or
    /// fails with `THROTTLED` and the time to wait.
    package mutating func begin(_ name: String, at now: Instant) throws {
        forget(before: now.advanced(by: .zero - Self.window))
        var count = counts[name] ?? Count(since: now)
        guard count.failures < Self.maximumFailures, counts.count < Self.capacity else {
            let end = count.since.advanced(by: Self.window)
            throw WireError(
                .throttled, "too many sign-ins with wrong passwords: try again later",
                retryAfter: Double(end.rawValue - now.rawValue) / 1000
            )
        }
        count.failures += 1
        counts[name] = count
    }

    /// Forgets the wrong passwords of who knew the right one.
    package mutating func succeeded(_ name: String) {
        counts[name] = nil
    }

    private mutating func forget(before moment: Instant) {
        counts = counts.filter { $1.since > moment }
    }
}
