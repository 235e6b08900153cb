// SPDX-License-Identifier: Apache-2.0

/// How many requests each caller makes: so many a second, and some more at once after a
/// pause.
///
/// A caller costs one number, the moment at which its requests are made up for (the
/// "generic cell rate algorithm"). Time is passed in: nanoseconds of a clock that never
/// goes back.
package struct RequestRates<Caller: Hashable & Sendable>: Sendable {
    /// The most callers remembered; of those whose requests are made up for, nothing is to
    /// be known.
    package static var capacity: Int { 20_000 }

    /// Nanoseconds that one request is made up for in.
    private let interval: Int64
    /// How far a caller may be ahead.
    private let tolerance: Int64
    private var ends: [Caller: Int64] = [:]

    /// Creates a bound of `perSecond` requests a second and `burst` at once, both at least
    /// one.
    package init(perSecond: Int, burst: Int) {
        interval = 1_000_000_000 / Int64(max(1, min(perSecond, 1_000_000_000)))
        tolerance = interval.multipliedReportingOverflow(by: Int64(max(1, burst))).partialValue
    }

    /// Counts a request; returns the nanoseconds to wait if it is one too many, which is
    /// not counted.
    package mutating func count(_ caller: Caller, at now: Int64) -> Int64? {
        let end = max(ends[caller] ?? now, now) + interval
        guard end - now <= tolerance else { return end - now - tolerance }
        ends[caller] = end
        if ends.count > Self.capacity { forget(at: now) }
        return nil
    }

    /// Returns the nanoseconds to wait if a request would be one too many; counts nothing.
    package func wait(of caller: Caller, at now: Int64) -> Int64? {
        let ahead = max(ends[caller] ?? now, now) + interval - now
        return ahead <= tolerance ? nil : ahead - tolerance
    }

    private mutating func forget(at now: Int64) {
        ends = ends.filter { $1 > now }
        // All of them busy: starting afresh costs a burst of each.
        if ends.count > Self.capacity / 2 { ends = [:] }
    }
}
