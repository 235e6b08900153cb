// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The pauses between attempts to reach a server, on the thread of the writes: a network knows only the
/// machine's time.
enum Pause {
    /// How often a server is asked that does not answer: about half a minute, in which one restarts, or another
    /// takes over.
    static let attempts = 10

    /// Waits before another attempt, longer each time: 0.05 s to 6.4 s, 25 s in all.
    static func before(attempt: Int) {
        Thread.sleep(forTimeInterval: 0.05 * Double(1 << min(max(attempt - 1, 0), 7)))
    }
}
