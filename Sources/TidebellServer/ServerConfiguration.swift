// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
package import TidebellCore
import TidebellEngines
package import TidebellHTTP
package import TidebellPush

/// What can be configured of `tidebell serve`.
package struct ServerConfiguration: Sendable {
    /// The port unless the operator chooses another.
    package static let defaultPort = 8642

    /// Requests a second of one caller: a fifth of what a core answers, and many times
    /// what a device asks, which waits for most of its answers.
    package static let defaultRequestsPerSecond = 1000

    package var host = "127.0.0.1"
    /// 0 lets the system choose.
    package var port = defaultPort
    /// Where the cloud keeps everything; created if absent.
    package var dataFolder: URL
    /// What opens its store.
    package var stores: any StoreFactory = StoreEngine.standard.factory
    /// Where the files of records are.
    package var assets = AssetPlace.folder
    /// What this server is called among the nodes that share the store and the files of records; nil for one
    /// that is alone.
    package var nodeName: String?
    package var logLevel = Logger.Level.notice
    package var limits = Limits()
    /// Bounds and delays of the push pipeline, and what it prunes first.
    package var push = PushConfiguration()
    /// The URL clients reach the server under, when it is not the one they
    /// connect to.
    package var publicURL: String?
    /// Where the apps are that shares are opened in.
    package var shareApps = ShareAppLinks()
    /// Whether whoever opens the sign-in page can be a user.
    package var allowsSignUp = false
    /// How long browsers that came by https come by nothing else; nil does not say so.
    package var strictTransport: Duration?
    /// Whom users may sign in with beside a password; nil for nobody.
    package var provider: OpenIDProvider.Configuration?
    /// Whether tests move its time and inject faults, by a management token.
    package var hasTestControls = false
    /// Streams and courier polls held open at a time.
    package var heldRequests = HeldRequests.defaultCapacity
    /// The most connections; nil is what the limit of open files leaves room for.
    package var connections: Int?
    /// Files that come at a time, and as many that go; nil is ``Cloud/transferCapacity``. Fewer
    /// where the limit of open files leaves less room.
    package var transfers: Int?
    /// What the store lets wait.
    package var store = StoreBounds()
    /// How much of the server one caller may take.
    package var shares = ShareLimits()
    /// How long the server says that it is not ready, and goes on, before it stops.
    package var stopNotice = Duration.zero
    /// The files of the certificate, with those that sign it, and of its key; nil for plain HTTP.
    package var tls: (certificate: URL, key: URL)?
    /// What the server counts, in the text format of Prometheus (``PrometheusMetrics``).
    package var metricsText: @Sendable () -> String = { "" }
    /// The way to Apple's push service.
    package var apns = APNsSettings()

    /// Where the key is from that fields and files are encrypted with.
    package var rootKey = RootKeySource.dataFolder
    /// Whether to delete zones and files whose keys the root key does not open.
    package var acceptsLostKeys = false

    /// Creates a configuration with defaults.
    package init(dataFolder: URL) {
        self.dataFolder = dataFolder
        shares.requestsPerSecond = Self.defaultRequestsPerSecond
    }
}
