// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Logging
import ServiceLifecycle
import TidebellAPNs
import Synchronization
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellServer
import TidebellTestStores

/// A running server: the cloud that `tidebell serve` runs, on a database in a
/// folder of the test.
final class LocalServer: Sendable {
    /// Connections that the server takes over sockets.
    private static let connectionLimit = 1000

    private let cloud: CloudServices
    private let group: ServiceGroup
    private let task: Task<Void, any Error>
    /// The way devices reach the server.
    let transport: any Transport
    /// What it logged as a warning or worse.
    let trouble: ServerTrouble

    private init(
        cloud: CloudServices,
        group: ServiceGroup,
        task: Task<Void, any Error>,
        transport: any Transport,
        trouble: ServerTrouble
    ) {
        self.trouble = trouble
        self.cloud = cloud
        self.group = group
        self.task = task
        self.transport = transport
    }

    /// Opens the database and starts the services; with sockets, on a port the
    /// system chooses.
    static func start(
        in folder: URL,
        rootKey: RootKey,
        time: Time,
        random: SeededRandom,
        usesSockets: Bool,
        limits: Limits,
        requestLimits: ServerLimits,
        apns: APNsConfiguration?,
        safetyLimit: Duration,
        onIdle: @escaping @Sendable () -> Void
    ) async throws -> LocalServer {
        let trouble = ServerTrouble()
        let logger = trouble.logger()
        let dataFolder = DataFolder(folder, stores: TestStores.factory)
        var push = PushConfiguration()
        // Its clock moves only when a test moves it.
        push.listenerPause = .zero
        var shares = ShareLimits()
        // Those of sockets run by real time.
        shares.giveTime(safetyLimit)
        requestLimits.apply(to: &shares)
        let store = try dataFolder.openStore(
            for: .serving, time: time, randomness: random.randomness
        )
        let cloud = CloudServices(
            store: store,
            secret: try await dataFolder.openSecret(of: store, randomness: random.randomness)
                .secret,
            assets: try dataFolder.openAssets(rootKey: rootKey, logger: logger),
            rootKey: rootKey,
            limits: limits,
            push: push,
            time: time,
            randomness: random.randomness,
            backgroundRandomness: random.branch().randomness,
            shares: shares,
            apns: apns,
            onIdle: onIdle,
            logger: logger
        )
        let port = Once<Int>()
        var services = cloud.services
        if usesSockets {
            services.append(
                HTTPServer(
                    cloud.webServices,
                    at: HTTPServer.ListenAddress(host: "127.0.0.1", port: 0),
                    connectionLimit: connectionLimit,
                    // Connections take real time to close.
                    drainClock: ContinuousClock()
                ) { port.set($0.port) }
            )
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: services, logger: logger)
        )
        // Without a parent: the server outlives the call that starts it and ends
        // with `stop()`.
        let task = Task {
            defer { port.fail() }
            try await group.run()
        }
        let transport: any Transport =
            usesSockets
            ? HTTPTransport(server: try await address(port), leastTimeout: safetyLimit)
            : InProcessTransport(cloud: cloud)
        return LocalServer(
            cloud: cloud, group: group, task: task, transport: transport, trouble: trouble)
    }

    private static func address(_ port: Once<Int>) async throws -> URL {
        guard let port = await port.value, let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw TestCloudError.misuse("The server cannot listen on 127.0.0.1.")
        }
        return url
    }

    /// Stops everything and closes the database; what is in the outbox stays
    /// there.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        let result = await task.result
        try await cloud.store.close()
        try result.get()
    }

    /// Lets everything end by itself, when nobody can wait for it any more; then `body` is called.
    func abandon(then body: @escaping @Sendable () -> Void) {
        task.cancel()
        Task { [task, cloud] in
            _ = await task.result
            // There is no caller left to report it to.
            try? await cloud.store.close()
            body()
        }
    }

    // MARK: -

    /// What everything is stored in.
    var store: any Store { cloud.store }

    /// What fields are encrypted with.
    var fieldCipher: any FieldCipher { cloud.webServices.cloud.rootKey ?? NoFieldCipher() }

    /// The number of files on their way.
    var transferCount: Int { cloud.webServices.cloud.transfers.current }

    /// The number of streams to devices that are open.
    var openStreams: Int { cloud.streams.openCount }

    /// Users and tokens.
    var accounts: Accounts { cloud.accounts }

    /// What development asked for, until the store has it.
    var queryUses: QueryUses { cloud.webServices.cloud.queryUses }

    /// The schemas of containers.
    var schemas: Schemas { Schemas(store: store, limits: limits) }

    /// The bounds in force.
    var limits: Limits { cloud.webServices.cloud.limits }

    /// Whether nothing is on its way to Apple's push service, nor can be now.
    func isSettledWithApple() async throws -> Bool {
        try await cloud.apns.isSettled()
    }

    /// Delivers every change that is pending and removes what is too old by the
    /// clock: what the services do by themselves, done when this returns.
    func catchUp() async throws {
        _ = try await cloud.pipeline.drain()
        for case let maintenance as Maintenance in cloud.services { await maintenance.round() }
    }
}

/// A value that is set once, and waited for.
private final class Once<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Sets the value.
    func set(_ value: Value) {
        continuation.yield(value)
        continuation.finish()
    }

    /// Reports that no value will come, unless one came.
    func fail() {
        continuation.finish()
    }

    /// The value; nil when none will come.
    var value: Value? {
        get async { await stream.first { _ in true } }
    }
}
