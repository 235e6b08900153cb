// SPDX-License-Identifier: Apache-2.0
import TidebellAPNs
import TidebellPush
import TidebellWebhooks

/// One of the server's queues: what a claim of it takes and how long that is held, by the constants that the
/// server runs with.
package struct QueueKind: Sendable {
    package var name: String
    /// The most entries of a claim.
    package var entriesPerClaim: Int
    /// The most changes that one pass works on, of which each entry has an equal share.
    package var changesPerPass: Int
    package var leaseDuration: Duration
    package var pollInterval: Duration
    package var givesFailedAlone: Bool
    /// How long a pass works, beside what it waits for the table of leases.
    package var work: ClosedRange<Duration>
    /// Whether the work is committed together with a look at the lease, so that what was lost is thrown away.
    /// What is sent to others is sent.
    package var checksLease: Bool
    /// Whether devices hear of the work from other nodes.
    package var reachesStreams: Bool

    /// Databases with changes that are to be matched with subscriptions.
    package static let matching: QueueKind = {
        let pipeline = PushConfiguration()
        return QueueKind(
            name: "matching", entriesPerClaim: pipeline.entriesPerPass,
            changesPerPass: pipeline.entriesPerPass, leaseDuration: pipeline.leaseDuration,
            pollInterval: pipeline.pollInterval, givesFailedAlone: true,
            work: .milliseconds(4)...(.milliseconds(12)), checksLease: true, reachesStreams: true)
    }()

    /// Users to whom a webhook has something to post.
    package static let webhook: QueueKind = {
        let webhook = WebhookConfiguration()
        return QueueKind(
            name: "webhooks", entriesPerClaim: webhook.window,
            changesPerPass: webhook.window * webhook.notificationsPerPage,
            leaseDuration: webhook.leaseDuration + webhook.requestTimeout,
            pollInterval: webhook.pollInterval, givesFailedAlone: false,
            work: .milliseconds(30)...(.milliseconds(200)), checksLease: false,
            reachesStreams: false)
    }()

    /// Push tokens to which Apple's push service is to deliver something.
    package static let pushTokens: QueueKind = {
        let apns = APNsConfiguration(apps: [])
        return QueueKind(
            name: "push tokens", entriesPerClaim: apns.targetsPerClaim,
            changesPerPass: apns.targetsPerClaim * apns.notificationsPerPage,
            leaseDuration: apns.leaseDuration, pollInterval: apns.pollInterval,
            givesFailedAlone: false, work: .milliseconds(40)...(.milliseconds(150)),
            checksLease: false, reachesStreams: false)
    }()
}
