// SPDX-License-Identifier: Apache-2.0

/// How long to wait before something that failed is tried again: twice as long after each
/// further failure, up to a ceiling, and scattered by chance, so that those who failed
/// together do not come back together.
package struct Backoff: Sendable, Hashable {
    /// What chance does to a wait.
    package enum Spread: Sendable, Hashable {
        /// Nothing.
        case none
        /// The wait is between half of it and all of it; a wait that was asked for is never
        /// shortened.
        case shorter
        /// The wait is longer by up to this fraction of it, and by no more than `atMost`.
        case longer(by: Double, atMost: Duration? = nil)
    }

    /// The wait after the first failure; doubles with each further one.
    package var first: Duration
    /// The longest wait that failures alone lead to.
    package var longest: Duration
    /// What chance does to it.
    package var spread: Spread

    /// More doublings pass any sensible ceiling and would only overflow.
    private static let mostDoublings = 32

    /// Creates a back-off.
    package init(first: Duration, longest: Duration, spread: Spread = .none) {
        self.first = first
        self.longest = longest
        self.spread = spread
    }

    /// Returns the wait after `failures` failures in a row (1 or more).
    ///
    /// - Parameters:
    ///   - asked: The wait that was asked for, which the result is never shorter than; the
    ///     caller bounds it.
    ///   - jitter: A number from 0 to 1: how much of the spread is taken.
    package func wait(
        after failures: Int, atLeast asked: Duration = .zero, jitter: Double = 0
    ) -> Duration {
        let doublings = min(max(failures, 1) - 1, Self.mostDoublings)
        let grown = min(longest, first * (1 << doublings))
        let part = min(max(jitter, 0), 1)
        switch spread {
        case .none: return max(grown, asked)
        case .shorter: return max(grown * (0.5 + 0.5 * part), asked)
        case .longer(let fraction, let most):
            let whole = max(grown, asked)
            return whole + min(whole * fraction, most ?? .seconds(Int64.max)) * part
        }
    }
}
