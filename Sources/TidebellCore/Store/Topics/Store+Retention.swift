// SPDX-License-Identifier: Apache-2.0

/// The moment from which retention counts back.
package protocol RetentionWriting {
    /// Moves the moment from which retention counts back towards `now`, forward or back, but by
    /// no more than `step`, and returns it, or `now` if that is before it. The first step is
    /// taken from when a device was seen, a notification made, a record deleted or anything
    /// changed last, if ever.
    func moveRetention(to now: Instant, byAtMost step: Duration) throws -> Instant
}
