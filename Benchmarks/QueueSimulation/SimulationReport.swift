// SPDX-License-Identifier: Apache-2.0

/// What came of a simulation.
package struct SimulationReport: Sendable {
    /// From the commit of a change to its delivery.
    package var ordinary = Delays()
    package var hot = Delays()
    /// Of the queue's lock, what claims and those who gave back waited for it.
    package var lockWaits = Delays()

    package var claims = 0
    /// Claims that had the queue's lock and found nothing.
    package var emptyClaims = 0
    /// Looks without the lock, and those that found nothing.
    package var looks = 0
    package var emptyLooks = 0
    package var transactions = 0
    /// Transactions that did not commit, because their node ended or stood still.
    package var rolledBack = 0
    package var statements = 0
    package var passes = 0
    package var failedPasses = 0
    /// Changes that were worked on, and what of that was thrown away or was sent twice.
    package var worked = 0
    package var thrownAway = 0
    package var sentTwice = 0
    /// Leases that had ended when they were given.
    package var stillborn = 0
    package var tells = 0
    package var changes = 0
    /// How long the locks of all cells were held, and the time the servers took to tell news.
    package var lockTime = Duration.zero
    package var newsTime = Duration.zero
    /// When the last change was delivered.
    package var end = Duration.zero
    package var undelivered = 0
    /// The most entries that were held in a cell.
    package var mostHeld = 0
    /// What must never happen, of each kind the first.
    package var violations: [String] = []

    mutating func violate(_ sentence: String) {
        if violations.count < 20 { violations.append(sentence) }
    }

    /// Delays, of which some are asked for.
    package struct Delays: Sendable {
        private(set) var milliseconds: [Float] = []

        package var count: Int { milliseconds.count }

        mutating func add(_ delay: Duration) {
            milliseconds.append(Float(delay / .milliseconds(1)))
        }

        /// Returns, in milliseconds, what this part of all delays does not exceed, for each part.
        package func percentiles(_ parts: [Double]) -> [Double] {
            guard !milliseconds.isEmpty else { return parts.map { _ in 0 } }
            let sorted = milliseconds.sorted()
            return parts.map { part in
                Double(sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))])
            }
        }
    }
}
