// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Which containers' pushes go to Apple's push service, how, and the bounds of it.
package struct APNsConfiguration: Sendable {
    /// One container's way to its app.
    package struct App: Sendable {
        /// The container's identifier, in both environments.
        package var container: String
        /// The app's bundle ID, which is what its pushes are addressed to (PUSH-11).
        package var topic: String
        package var credentials: ProviderCredentials

        /// Creates an app.
        package init(container: String, topic: String, credentials: ProviderCredentials) {
            self.container = container
            self.topic = topic
            self.credentials = credentials
        }
    }

    /// The apps; a container without one has no pushes by this route.
    package var apps: [App]
    /// Where pushes go, by environment.
    package var gateways: [CloudEnvironment: APNsGateway]
    /// A PEM file of the certificates that are trusted beside nobody else's; nil
    /// trusts whom the system trusts.
    package var trustRoots: String?

    /// HTTP/2 connections to each gateway; requests take turns.
    package var connections = 2
    /// Requests of one container and environment that wait for their answer at a
    /// time.
    package var requestsInFlight = 256
    /// Targets that wait in memory for their turn; more stay in the store.
    package var waitingTargets = 1024
    /// Notifications that one read of the log gives a target.
    package var notificationsPerPage = 16
    /// Targets that one claim takes.
    package var targetsPerClaim = 256
    /// How long a claimed target is nobody else's, unless it is given back before.
    package var leaseDuration = Duration.seconds(60)
    /// How long a lost wake-up can delay a push.
    package var pollInterval = Duration.seconds(5)
    /// How long an answer may take before the request is repeated.
    package var requestTimeout = Duration.seconds(8)
    /// How long Apple keeps a push for a device that is away, from its change on;
    /// Apple itself ends at 30 days (PUSH-5).
    package var expiration = Duration.seconds(30 * 24 * 3600)
    /// Failures in a row after which a container's pushes stop for a while.
    package var failuresBeforePause = 8
    /// The first wait after a failure; it doubles with each further one.
    package var firstWait = Duration.seconds(1)
    /// The longest wait after failures that are nobody's fault.
    package var longestWait = Duration.seconds(60)
    /// The longest wait after failures that only the operator or the app can end.
    package var longestMisconfiguredWait = Duration.seconds(3600)

    /// Creates a configuration with Apple's gateways and default bounds.
    package init(apps: [App]) {
        self.apps = apps
        gateways = [.development: .apple(.development), .production: .apple(.production)]
    }
}
