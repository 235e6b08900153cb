// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
package import ServiceLifecycle
package import TidebellCore
package import TidebellHTTP
import TidebellScheduling
package import UnixSignals

/// The server: a cloud in a data folder, on a socket.
package struct TidebellServer: Sendable {
    /// How long requests under way may take to end once shutdown began.
    static let drainTime = Duration.seconds(10)

    /// The cloud that is served.
    package let cloud: CloudServices
    /// How it is configured.
    package let configuration: ServerConfiguration
    /// What the start gave up for want of its keys.
    package let givenUp: KeyLoss
    private let logger: Logger
    private let openFiles: OpenFiles.Shares
    private let tls: TLSCertificates?
    private let lostStore: LostStore

    /// Opens the cloud of the data folder; what an operator can put right fails
    /// with ``OperatorError``.
    package init(_ configuration: ServerConfiguration) async throws {
        self.configuration = configuration
        let apns = try configuration.apns.configuration()
        var logger = Logger(label: "tidebell") {
            StreamLogHandler(label: $0, stream: QueuedOutput.standardError)
        }
        logger.logLevel = configuration.logLevel
        self.logger = logger
        do throws(UnusableCertificate) {
            tls = try configuration.tls.map { files throws(UnusableCertificate) in
                try TLSCertificates(
                    certificate: files.certificate.path, key: files.key.path,
                    elapsed: Time.system.elapsed, logger: logger)
            }
        } catch {
            throw OperatorError(error.description)
        }
        let folder = DataFolder(configuration.dataFolder, stores: configuration.stores)
        // The store first: its lock proves that no other server uses the files.
        let shifted = configuration.hasTestControls ? ShiftedClock(.system) : nil
        let (time, randomness) = (shifted?.time ?? Time.system, Randomness.system)
        let store = try folder.openStore(
            for: .serving, bounds: configuration.store, time: time, randomness: randomness)
        lostStore = LostStore(store)
        let troubles = TroubleLog(logger: logger)
        troubles.follow(store)
        if configuration.stores.isInDataFolder { troubles.nameDefects() }
        if store.cameBackOlder {
            logger.warning(
                "the store lacks changes that it had before; devices fetch everything again"
            )
        }
        let secret: StoreSecret
        let rootKey: RootKey
        let assets: any AssetStore
        do {
            let made = try await folder.openSecret(of: store, randomness: randomness)
            if made.replacesLostOne {
                logger.warning(
                    """
                    the store had no secret, as after a restore of a backup without keys; it has \
                    another one: devices have other IDs in records, and links to files are void
                    """
                )
            }
            secret = made.secret
            (rootKey, givenUp) = try await folder.openRootKey(
                from: configuration.rootKey, for: store,
                acceptsLoss: configuration.acceptsLostKeys, at: time.now()
            )
            // By the machine's clock: a service of files does not know of one that tests move.
            assets = try await folder.openAssets(
                in: configuration.assets, of: configuration.nodeName, identity: store.identity,
                limits: configuration.limits, rootKey: rootKey, time: Time.system,
                randomness: randomness, logger: logger)
        } catch {
            try await store.close()
            throw error
        }
        openFiles = OpenFiles.shares(
            transfers: configuration.transfers.map { 2 * $0 } ?? Cloud.transferCapacity,
            filesPerTransfer: configuration.assets.filesPerTransfer)
        cloud = CloudServices(
            store: store,
            secret: secret,
            assets: assets,
            rootKey: rootKey,
            limits: configuration.limits,
            push: configuration.push,
            time: time,
            randomness: randomness,
            heldRequests: HeldRequests(
                capacity: configuration.heldRequests,
                share: configuration.shares.heldRequestsPerCaller
            ),
            transferCapacity: openFiles.transfers,
            shares: configuration.shares,
            metricsText: configuration.metricsText,
            controls: shifted.map { clock in TestControls { clock.advance(by: $0) } },
            provider: configuration.provider.map {
                OpenIDProvider($0, time: time) { try await HTTPProvider.send($0, time: time) }
            },
            publicURL: configuration.publicURL,
            shareApps: configuration.shareApps, allowsSignUp: configuration.allowsSignUp,
            strictTransport: configuration.strictTransport,
            apns: apns,
            logger: logger
        )
    }

    /// Serves until SIGTERM or SIGINT, then drains and closes the store.
    ///
    /// `onRunning` is called when the socket is open.
    package func run(
        onRunning: @escaping @Sendable (HTTPServer.ListenAddress) async -> Void = { _ in }
    ) async throws {
        let signals: [UnixSignal] = [.sigterm, .sigint]
        guard configuration.stopNotice > .zero else {
            return try await run(serviceGroup(until: signals, onRunning: onRunning))
        }
        let group = serviceGroup(until: [], onRunning: onRunning)
        let stopping = stop(group, at: await UnixSignalsSequence(trapping: signals))
        defer { stopping.cancel() }
        try await run(group)
    }

    /// Stops a group after the first signal, when whoever asks whether the server is ready had the time to see that
    /// it is not any more; at once after a second one.
    private func stop(_ group: ServiceGroup, at signals: UnixSignalsSequence) -> Task<Void, Never> {
        let (readiness, notice) = (cloud.webServices.cloud.readiness, configuration.stopNotice)
        return Task {
            await withDiscardingTaskGroup { tasks in
                var isFirst = true
                for await _ in signals {
                    let wait = isFirst ? notice : .zero
                    isFirst = false
                    readiness.noteEnd()
                    tasks.addTask {
                        guard (try? await ContinuousClock().sleep(for: wait)) != nil else { return }
                        await group.triggerGracefulShutdown()
                    }
                }
            }
        }
    }

    /// Everything that runs; the pipeline is up before the first request and
    /// ends after the last one.
    package func serviceGroup(
        until signals: [UnixSignal],
        onRunning: @escaping @Sendable (HTTPServer.ListenAddress) async -> Void
    ) -> ServiceGroup {
        let server = HTTPServer(
            cloud.webServices,
            at: HTTPServer.ListenAddress(host: configuration.host, port: configuration.port),
            connectionLimit: min(
                configuration.connections ?? openFiles.connections, openFiles.connections
            ),
            drainClock: ContinuousClock(),
            tls: tls,
            onRunning: onRunning
        )
        let lost = ServiceGroupConfiguration.ServiceConfiguration(
            service: lostStore, failureTerminationBehavior: .gracefullyShutdownGroup)
        let freeMemory = FreeMemory(clock: ContinuousClock(), logger: logger)
        var group = ServiceGroupConfiguration(
            services: (cloud.services + [freeMemory, server]).map { .init(service: $0) } + [lost],
            gracefulShutdownSignals: signals, logger: logger.fromNotice
        )
        group.maximumGracefulShutdownDuration = Self.drainTime
        return ServiceGroup(configuration: group)
    }

    /// Runs the group to its end and closes the store.
    package func run(_ group: ServiceGroup) async throws {
        let result: Result<Void, any Error>
        do {
            try await group.run()
            result = .success(())
        } catch let error as CannotListen {
            result = .failure(OperatorError(error.description))
        } catch {
            result = .failure(error)
        }
        try await cloud.store.close()
        try result.get()
    }
}

extension Logger {
    /// The logger from `notice` on: the lifecycle of services logs each step with the whole
    /// description of each.
    fileprivate var fromNotice: Logger {
        var logger = self
        logger.logLevel = max(logLevel, .notice)
        return logger
    }
}
