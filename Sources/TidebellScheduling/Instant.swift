// SPDX-License-Identifier: Apache-2.0

/// A moment: milliseconds since 1970. Rules are given the time, they never ask.
package struct Instant: RawRepresentable, Sendable, Hashable, Comparable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Instant, right: Instant) -> Bool { left.rawValue < right.rawValue }

    /// Returns the moment `duration` later.
    package func advanced(by duration: Duration) -> Instant {
        let (seconds, attoseconds) = duration.components
        return Instant(rawValue: rawValue + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
