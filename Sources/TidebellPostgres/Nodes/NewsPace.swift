// SPDX-License-Identifier: Apache-2.0

/// How soon a node may tell news again.
///
/// Each notification wakes the connections of all nodes, so with their number grows both what one costs the
/// database's server and how many there are. A node that tells seldom never waits.
struct NewsPace {
    /// The least time from one notification of a node to its next, for each of those that hear it: all nodes together
    /// tell no more than a thousand times a second.
    static let pauseForListener = Duration.milliseconds(1)

    private var next = Duration.zero

    /// Returns how long to wait; zero where it may tell now.
    func wait(at moment: Duration) -> Duration { max(.zero, next - moment) }

    /// Notes that it told the other nodes.
    mutating func told(at moment: Duration, listeners: Int) {
        next = moment + Self.pauseForListener * listeners
    }
}
