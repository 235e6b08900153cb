// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
package import Logging
package import ServiceLifecycle
package import TidebellAPNs
package import TidebellCore
package import TidebellHTTP
package import TidebellPush
package import TidebellScheduling
import TidebellWebhooks

/// The whole cloud without a socket: store, push pipeline and API.
///
/// `tidebell serve` puts it on a socket; tests call ``respond(to:)`` and run
/// ``services`` themselves, with a clock and a seed of their own.
package struct CloudServices: Sendable {
    /// Where everything is kept; whoever opened it closes it.
    package let store: any Store
    /// The pipeline from changes to notifications.
    package let pipeline: PushPipeline
    /// The devices that are connected.
    package let streams: DeviceStreams
    /// What ends the streams and polls of those who may receive no more.
    package let watch: ListenerWatch
    /// The Web Services API.
    package let webServices: WebServices
    /// Users and tokens.
    package let accounts: Accounts
    /// What the routes did.
    package let journal: DeliveryJournal
    /// The way to Apple's push service.
    package let apns: APNsRoute
    private let webhookRoute: WebhookRoute
    private let pipelines:
        @Sendable (@escaping @Sendable (PassStep) async throws -> Void) -> PushPipeline
    /// What lets records follow into shares and out of them.
    private let settling: HierarchySettling
    /// What makes and drops the indexes of queries.
    package let indexing: FieldIndexing
    /// What removes what nobody needs any more.
    package let maintenance: Maintenance

    /// Puts a cloud together around an open store; nothing runs yet.
    ///
    /// - Parameters:
    ///   - secret: The secret of the store (``DataFolder/openSecret(of:randomness:)``).
    ///   - assets: Where files of records are kept.
    ///   - rootKey: What fields and kept answers are encrypted with; nil keeps them as
    ///     they are.
    ///   - backgroundRandomness: Where what runs beside requests draws, so that a seed decides what
    ///     requests draw whenever that runs; nil for where requests draw.
    ///   - shares: How much of the server one caller may take.
    ///   - passwordCost: What a hash of a password costs.
    ///   - httpMetrics: Counts what the API's bounds refuse.
    ///   - metricsText: What the server counts, in the text format of Prometheus.
    ///   - controls: What a test holds the server by; nil for none.
    ///   - provider: Whom users may sign in with beside a password; nil for nobody.
    ///   - publicURL: The URL clients reach the server under; nil takes what
    ///     each request's `Host` header names.
    ///   - shareApps: Where the apps are that shares are opened in.
    ///   - allowsSignUp: Whether whoever opens the sign-in page can be a user.
    ///   - strictTransport: How long browsers that came by https come by nothing else; nil does not say so.
    ///   - apns: The way to Apple's push service; nil for none.
    ///   - onIdle: Called whenever that way may have nothing left to do now, and when a device's
    ///     stream closed.
    ///   - reached: What tests let happen between the stages of a pass.
    package init(
        store: any Store,
        secret: StoreSecret,
        assets: any AssetStore = NoAssetStore(),
        rootKey: RootKey? = nil,
        limits: Limits = Limits(),
        push: PushConfiguration = PushConfiguration(),
        time: Time,
        randomness: Randomness,
        backgroundRandomness: Randomness? = nil,
        heldRequests: HeldRequests? = nil,
        transferCapacity: Int = Cloud.transferCapacity,
        shares: ShareLimits = ShareLimits(),
        passwordCost: Password.Cost = .standard,
        metrics httpMetrics: HTTPMetrics = HTTPMetrics(),
        metricsText: @escaping @Sendable () -> String = { "" },
        controls: TestControls? = nil,
        provider: OpenIDProvider? = nil,
        publicURL: String? = nil,
        shareApps: ShareAppLinks = ShareAppLinks(),
        allowsSignUp: Bool = false,
        strictTransport: Duration? = nil,
        apns: APNsConfiguration? = nil,
        onIdle: @escaping @Sendable () -> Void = {},
        logger: Logger,
        reached: @escaping @Sendable (PassStep) async throws -> Void = { _ in }
    ) {
        let metrics = PushMetrics()
        let background = backgroundRandomness ?? randomness
        var push = push
        push.keepsExplanations = limits.explanationRetention > .zero
        let journal = DeliveryJournal(
            store: push.keepsExplanations ? store : nil, clock: time.clock, logger: logger
        )
        self.journal = journal
        let watch = ListenerWatch(
            store: store, clock: time.clock, now: time.now, configuration: push,
            metrics: metrics, logger: logger
        )
        self.watch = watch
        let streams = DeviceStreams(
            store: store, clock: time.clock, jitter: background.makeFraction, configuration: push,
            metrics: metrics, watch: watch, onClose: onIdle
        )
        let couriers = CourierMailboxes(
            store: store, clock: time.clock, now: time.now, configuration: push,
            metrics: metrics, watch: watch
        )
        let devices = DeviceSeal(secret)
        webhookRoute = WebhookRoute(
            store: store, naming: { devices.deviceID(of: $0, usedBy: $1) }, clock: time.clock,
            now: time.now, jitter: background.makeFraction, makeUUID: background.makeUUID,
            journal: journal, logger: logger
        )
        let apns = APNsRoute(
            apns,
            APNsSurroundings(
                store: store, journal: journal, clock: time.clock, now: time.now,
                jitter: background.makeFraction, makeUUID: background.makeUUID, logger: logger,
                onIdle: onIdle
            )
        )
        self.apns = apns
        self.store = store
        self.streams = streams
        let routes: [any PushRoute] = [streams, couriers, apns, webhookRoute]
        store.whenNotifiedElsewhere { users in
            for route in routes { route.lookAgain(for: users) }
        }
        pipelines = { [push] reached in
            PushPipeline(
                store: store, routes: routes, clock: time.clock, now: time.now,
                makeUUID: background.makeUUID, logger: logger, configuration: push,
                metrics: metrics, reached: reached
            )
        }
        pipeline = pipelines(reached)
        accounts = Accounts(store: store, time: time, randomness: randomness)
        let (tokenUses, queryUses) = (TokenUses(), QueryUses())
        maintenance = Maintenance(
            store: store, assets: assets, rootKey: rootKey, tokenUses: tokenUses,
            queryUses: queryUses, limits: limits, time: time, logger: logger
        )
        settling = HierarchySettling(store: store, time: time, logger: logger)
        let indexing = FieldIndexing(store: store, limits: limits, time: time, logger: logger)
        self.indexing = indexing
        let shares = Shares(limits: shares, clock: time.clock, metrics: httpMetrics)
        webServices = WebServices(
            cloud: Cloud(
                store: store,
                secret: secret,
                streams: streams,
                couriers: couriers,
                journal: journal,
                nativeTokenRegistered: { apns.registered($0, in: $1) },
                noteQuery: { indexing.note($0) },
                tokenUses: tokenUses,
                queryUses: queryUses,
                topic: { apns.topic(of: $0) },
                heldRequests: heldRequests
                    ?? HeldRequests(
                        share: shares.limits.heldRequestsPerCaller
                    ),
                assets: assets,
                transferCapacity: transferCapacity,
                rootKey: rootKey,
                shares: shares,
                passwordCost: passwordCost,
                metricsText: metricsText,
                controls: controls,
                provider: provider,
                limits: limits,
                time: time,
                randomness: randomness,
                logger: logger
            ),
            publicURL: publicURL, shareApps: shareApps, allowsSignUp: allowsSignUp,
            strictTransport: strictTransport
        )
    }

    /// Makes a further pipeline, which shares the work on the store with ``pipeline``.
    package func makePipeline(
        reached: @escaping @Sendable (PassStep) async throws -> Void
    ) -> PushPipeline {
        pipelines(reached)
    }

    /// What must run beside the API, in the order to start it: the journal, which
    /// ends after all that write into it, the pipeline, the routes, what settles
    /// hierarchies, what builds indexes and the maintenance.
    package var services: [any Service] {
        [journal, pipeline, streams, watch, apns, webhookRoute, settling, indexing, maintenance]
    }

    /// Answers a request as the socket would; never fails.
    package func respond(to request: WebRequest) async -> WebResponse {
        await webServices.respond(to: request)
    }

    /// Answers a request given in its parts; `target` is path and query,
    /// percent-encoded.
    package func respond(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: [String: String] = [:],
        body: [UInt8] = []
    ) async -> WebResponse {
        await respond(
            to: WebRequest(method, target, headers: HTTPFields(headers), body: .bytes(body))
        )
    }
}
