// SPDX-License-Identifier: Apache-2.0
package import TidebellScheduling

/// The bounds and delays of webhooks.
package struct WebhookConfiguration: Sendable, Hashable {
    /// Users of one webhook who may have a request under way at a time.
    package var window = 8
    /// Turns that ended and are not saved yet, at most; they are saved together.
    package var turnsPerSave = 64
    /// Notifications that a webhook gets of one user before others have their turn.
    package var notificationsPerPage = 64
    /// How long a user's notifications are posted, and the one that is under way then, before it is
    /// saved how far they were delivered and others have their turn.
    ///
    /// Short beside the life of a server that ends again and again: it gets on all the same.
    package var turnDuration = Duration.milliseconds(100)
    /// How long a user is held, where answers take their time; after that, and one answer more,
    /// others may claim the user.
    package var leaseDuration = Duration.seconds(30)
    /// The time a receiver has to answer; the standard recommends 15 to 30 s.
    package var requestTimeout = Duration.seconds(20)
    /// How often a notification that fails while others are delivered is tried again
    /// beside them.
    package var quickTries = 5
    /// The waits before such tries.
    package var quickRetry = Backoff(first: .milliseconds(50), longest: .seconds(60))
    /// The waits after failures of the receiver; scattered, so that webhooks do not come all
    /// at once to a receiver they share.
    package var retry = Backoff(first: .seconds(1), longest: .seconds(300), spread: .shorter)
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
        failures == 0 ? .zero : quickRetry.wait(after: failures)
    }

    /// The wait after `failures` failures in a row (1 or more), of which a receiver may make
    /// it longer.
    func retryDelay(after failures: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        retry.wait(
            after: failures, atLeast: min(retryAfter ?? .zero, longestRetryAfter), jitter: jitter
        )
    }
}
