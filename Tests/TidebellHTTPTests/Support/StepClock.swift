// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellCore

/// A clock that stands still until it is moved.
typealias StepClock = SteppedClock

extension SteppedClock {
    /// Creates a clock that starts at a time of day.
    convenience init(at start: TidebellCore.Instant) { self.init(start: start.rawValue) }

    /// The time of day of the clock.
    var instant: TidebellCore.Instant {
        TidebellCore.Instant(rawValue: start).advanced(by: now.offset)
    }
}
