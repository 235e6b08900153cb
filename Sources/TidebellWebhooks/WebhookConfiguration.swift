// SPDX-License-Identifier: Apache-2.0

/// The bounds and delays of webhooks.
package struct WebhookConfiguration: Sendable, Hashable {
    /// Requests of one webhook that may be under way at a time.
    package var window = 8
    /// Notifications that one read of the log gives a webhook.
    package var notificationsPerPage = 64
    /// Places of the log that one read looks at, whoever's they are.
    package var placesPerRead: Int64 = 10_000
    /// The time a receiver has to answer; the standard recommends 15 to 30 s.
    package var requestTimeout = Duration.seconds(20)
    /// How often a notification that fails while others are delivered is tried again
    /// beside them.
    package var quickTries = 5
    /// The wait before the first such try; doubles with each further one.
    package var quickRetry = Duration.milliseconds(50)
    /// The wait after a first failure of the receiver; doubles with each further one.
    package var firstRetry = Duration.seconds(1)
    /// The longest wait the route decides on itself.
    package var longestRetry = Duration.seconds(300)
    /// The longest wait a receiver can ask for with `Retry-After`.
    package var longestRetryAfter = Duration.seconds(3600)
    /// Tries after which a notification that the receiver refuses is skipped.
    package var triesOfRefused = 8
    /// How long it takes at most to notice a webhook that was added, removed or
    /// enabled, or a notification whose hint was lost.
    package var pollInterval = Duration.seconds(5)

    /// Creates the default configuration.
    package init() {}

    /// The wait before a notification is tried again that failed so often in passing.
    func quickDelay(after failures: Int) -> Duration {
        // The doublings are few; more would only overflow.
        failures == 0 ? .zero : quickRetry * (1 << min(failures - 1, 10))
    }

    /// The wait after `failures` failures in a row (1 or more).
    ///
    /// - Parameter jitter: A random number from 0 to 1: how much of the second
    ///   half of the wait is waited, so that webhooks do not come all at once to
    ///   a receiver they share.
    func retryDelay(after failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        // Ten doublings pass any sensible ceiling; more would only overflow.
        let most = min(longestRetry, firstRetry * (1 << min(max(failures - 1, 0), 10)))
        let delay = most * (0.5 + 0.5 * min(max(jitter, 0), 1))
        return max(delay, min(retryAfter ?? .zero, longestRetryAfter))
    }
}
