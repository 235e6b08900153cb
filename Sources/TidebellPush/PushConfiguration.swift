// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellScheduling

/// The bounds and delays of the pipeline and its routes.
package struct PushConfiguration: Sendable, Hashable {
    /// Outbox entries that one pass reads.
    package var entriesPerPass = 64
    /// Bytes of changes that one pass reads, of which each database has an equal share: what
    /// would pass it waits for the next pass, but for the first change of all.
    package var changeBytesPerPass = 4 * 1024 * 1024
    /// Subscriptions that one pass looks at, and notifications after which it
    /// looks at no further one; the rest of the entry follows in the next pass.
    package var notificationsPerPass = 5000
    /// Bytes of subscriptions that one pass reads: the one that passes it is the last.
    /// What is read once is held against all changes of the pass.
    package var subscriptionBytesPerPass = 8 * 1024 * 1024
    /// The most subscriptions of a database that are read at once, with all that is in them: each is
    /// held against each change then. With more, they are looked up by what changes have.
    package var subscriptionsReadAtOnce = 16
    /// Bytes of fields and filters that one pass compares (``MatchingWork``): the subscription
    /// that passes it is the last.
    package var matchingBytesPerPass = 8 * 1024 * 1024
    /// How long a pass may hold databases before others may claim them.
    package var leaseDuration = Duration.seconds(30)
    /// Passes that fail one after the other before the pipeline rests.
    package var failuresPerRound = 8
    /// How long a lost wake-up can delay a push.
    package var pollInterval = Duration.seconds(5)
    /// How long a pass waits for more changes to merge (PUSH-2).
    package var coalescingWindow = Duration.zero
    /// Over how long the background pushes of one change are spread among the
    /// connected devices, so that they do not all fetch at once (PUSH-6).
    package var spread = Duration.zero
    /// What goes first from a payload that is too long (PRUNE-5).
    package var pruning = PruningOrder.header
    /// The waits before a database is tried again whose pass failed.
    package var retry = Backoff(first: .milliseconds(100), longest: .seconds(30))
    /// Notifications that wait for one slow device before it is sent back to the
    /// log.
    package var waitingPerStream = 64
    /// Notifications that wait for a courier, for each container of its token;
    /// beyond it the oldest are dropped (web-services 5.12).
    package var waitingPerCourier = 100
    /// Notifications that one read of the log gives a stream.
    package var notificationsPerPage = 100
    /// Devices that read what they missed from the log at the same time; the others wait for their
    /// turn and hold no page meanwhile.
    package var catchUpsAtOnce = 8
    /// How long it takes at least from one look at who may still receive to the next: whoever
    /// signs out again and again does not keep the store busy with it.
    package var listenerPause = Duration.milliseconds(100)
    /// Whether processed changes are kept to be explained.
    package var keepsExplanations = true

    /// Creates the default configuration.
    package init() {}
}
