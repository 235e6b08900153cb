// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

/// What a ``TestCloud`` and its devices share; lives as long as any of them.
final class CloudState: Sendable {
    private struct State {
        var server: LocalServer?
        var apiToken: String?
        var devices: [WeakDevice] = []
        /// The devices that live as long as the cloud is looked at; nil where each goes when the test
        /// lets go of it.
        var kept: [TestDevice]?
        var accounts: Set<String> = []
        var paths: Set<RequestPath> = []
        var limits: ServerLimits
    }

    let defaultContainer: String
    /// The environment of devices that are made without one.
    let environment: TestCloud.Environment
    let clock: ManualClock
    /// The clock, for the server, which also reads the time of day from it.
    let time: Time
    /// What is to go wrong with the requests of any device.
    let faults = FaultPlan()
    /// Ends waits that nobody else would.
    let watchdog: Watchdog
    let safetyLimit: Duration
    let changes: Changes
    /// The push service of Apple's devices.
    let apns: FakeAPNs?
    private let usesSockets: Bool
    private let strictness: ServerStrictness
    private let random: SeededRandom
    /// Where the server keeps everything.
    let folder: URL
    /// Where devices put the files that they download.
    let downloads: URL
    /// Where devices have their homes.
    let homes: URL
    /// What the server encrypts fields and files with: in memory only, so that the folder
    /// is what a disk is to a thief.
    private let rootKey: RootKey
    private let state: Mutex<State>

    init(
        defaultContainer: String,
        environment: TestCloud.Environment,
        usesSockets: Bool,
        limits: ServerLimits,
        strictness: ServerStrictness,
        seed: UInt64,
        clock: ManualClock,
        apns: FakeAPNs?,
        safetyLimit: Duration
    ) throws {
        state = Mutex(State(limits: limits))
        self.strictness = strictness
        self.apns = apns
        apns?.follow(clock)
        self.safetyLimit = safetyLimit
        self.defaultContainer = defaultContainer
        self.environment = environment
        self.usesSockets = usesSockets
        self.clock = clock
        changes = Changes { clock.now }
        time = Time(now: { clock.instant }, clock: KitClock(clock: clock, device: nil))
        watchdog = Watchdog(clock, limit: safetyLimit / Watchdog.partOfSafetyLimit)
        random = SeededRandom(seed: seed)
        rootKey = RootKey(random.bytes(RootKey.length))
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-test-\(Randomness.system.makeUUID())")
        downloads = URL(fileURLWithPath: folder.path + "-downloads", isDirectory: true)
        homes = URL(fileURLWithPath: folder.path + "-homes", isDirectory: true)
        TemporaryFolders.add([folder, downloads, homes])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        clock.onSleep { [weak changes, weak watchdog] in
            changes?.notify()
            watchdog?.lookAgain()
        }
        watchdog.name { [weak self] id in
            self?.devices.first { $0.deviceID == id }?.name ?? "the device \(id)"
        }
    }

    deinit {
        // When the server, which goes on for a moment, writes nothing any more; open files stay
        // usable until they are closed.
        let remove: @Sendable () -> Void = { [folder, downloads, homes] in
            TemporaryFolders.remove([folder, downloads, homes])
        }
        if let server = state.withLock({ $0.server }) {
            server.abandon(then: remove)
        } else {
            remove()
        }
    }

    /// The time of a device, whose sleeps are known as its own.
    func time(ofDevice id: String) -> Time {
        Time(now: { [clock] in clock.instant }, clock: KitClock(clock: clock, device: id))
    }

    /// Waits on the clock for something that a device waits for.
    func wait(_ duration: Duration, ofDevice id: String, _ purpose: String) async throws {
        try await KitClock(clock: clock, device: id).sleep(for: duration, awaitedFor: purpose)
    }

    // MARK: Server

    /// Starts the server; the first time, an API token is created.
    func start() async throws {
        guard state.withLock({ $0.server }) == nil else {
            throw TestCloudError.misuse("The cloud is started already.")
        }
        let server = try await LocalServer.start(
            in: folder,
            rootKey: rootKey,
            time: time,
            random: random,
            usesSockets: usesSockets,
            limits: rules(),
            requestLimits: state.withLock(\.limits),
            apns: try apns?.configuration(),
            safetyLimit: safetyLimit,
            onIdle: { [weak changes] in changes?.notify() }
        )
        if state.withLock({ $0.apiToken }) == nil {
            let token = try await server.accounts.makeAPIToken(named: "test")
            state.withLock { $0.apiToken = token }
        }
        state.withLock { $0.server = server }
        for device in devices { device.link.serverChanged() }
        changes.notify()
    }

    /// The limits of the rules.
    private func rules() -> Limits {
        var limits = state.withLock(\.limits).rules
        strictness.apply(to: &limits, defaultContainer: defaultContainer)
        return limits
    }

    /// Sets the limits of the server that starts next.
    func set(_ limits: ServerLimits) {
        state.withLock { $0.limits = limits }
    }

    /// Stops the server and cuts all connections.
    func stop() async throws {
        let server = state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        guard let server else { throw TestCloudError.misuse("The cloud is stopped already.") }
        for device in devices { device.link.cut() }
        try await server.stop()
        changes.notify()
    }

    /// Whether there is a server.
    var isRunning: Bool { state.withLock { $0.server != nil } }

    /// The way to the running server.
    func server() throws -> any Transport {
        guard let server = state.withLock({ $0.server }) else {
            throw TransportError.unreachable("the cloud is stopped")
        }
        return server.transport
    }

    /// The running server, or the error that reports that there is none.
    func running() throws -> LocalServer {
        guard let server = state.withLock({ $0.server }) else {
            throw TestCloudError.misuse("The cloud is stopped.")
        }
        return server
    }

    // MARK: Devices

    /// Makes a device with a web token of its own; nil gives it a new ID.
    func makeDevice(
        user: String?,
        environment: TestCloud.Environment,
        id: String? = nil
    ) async throws -> TestDevice {
        let token = try await makeWebToken(user: user)
        guard let address = URL(string: "http://\(InProcessTransport.host)") else {
            preconditionFailure("a constant URL is valid")
        }
        let deviceID = id ?? random.uuid().uuidString.lowercased()
        let configuration = DeviceConfiguration(
            server: address,
            apiToken: state.withLock { $0.apiToken },
            webAuthToken: token,
            environment: environment.rawValue,
            defaultContainer: defaultContainer,
            deviceID: deviceID,
            stateFolder: nil,
            downloads: downloads.appendingPathComponent(deviceID, isDirectory: true)
        )
        let device = try TestDevice(
            user: user,
            configuration: configuration,
            environment: environment,
            cloud: self
        )
        state.withLock { state in
            state.devices.append(WeakDevice(device: device))
            state.kept?.append(device)
        }
        return device
    }

    /// Keeps the devices that are made from now on, or lets go of them.
    func keepDevices(_ isKept: Bool) {
        // They go outside of the lock, which their end takes.
        let kept = state.withLock { state in
            defer { state.kept = isKept ? state.kept ?? [] : nil }
            return state.kept
        }
        withExtendedLifetime(kept) {}
    }

    /// Longer than any test's clock is moved.
    private static let tokenLifetime = Duration.seconds(100 * 365 * 24 * 3600)

    /// Returns a new web token of a user, whose account is created at first; nil for
    /// nobody.
    func makeWebToken(user: String?) async throws -> String? {
        guard let user else { return nil }
        state.withLock { _ = $0.accounts.insert(user) }
        let accounts = try running().accounts
        guard try await accounts.names().contains(user) else {
            return try await accounts.add(named: user, tokenLifetime: Self.tokenLifetime)
        }
        return try await accounts.makeWebToken(for: user, lifetime: Self.tokenLifetime)
    }

    /// Gives a user a verified address.
    func addAddress(_ address: String, of user: String) async throws {
        _ = try await running().accounts.addAddress(address, of: user)
    }

    /// The devices that still exist.
    var devices: [TestDevice] { state.withLock { $0.devices.compactMap(\.device) } }

    /// The names of all accounts, sorted.
    var accounts: [String] { state.withLock { $0.accounts.sorted() } }

    /// The containers that devices sent requests to, sorted.
    var paths: [RequestPath] {
        state.withLock { $0.paths }.sorted {
            ($0.container, $0.environment) < ($1.container, $1.environment)
        }
    }

    /// The API token of the devices.
    var apiToken: String? { state.withLock(\.apiToken) }

    /// Replaces what is known of accounts and containers.
    func replaceNames(accounts: Set<String>, paths: Set<RequestPath>) {
        state.withLock { state in
            state.accounts = accounts
            state.paths = paths
        }
    }

    /// Remembers that a device sent a request to a container.
    func note(_ path: RequestPath) {
        _ = state.withLock { $0.paths.insert(path) }
    }
}

/// A device that goes when the test lets go of it.
private struct WeakDevice: @unchecked Sendable {
    // Sendable: only read and written behind the lock of the state.
    weak var device: TestDevice?
}

extension ManualClock {
    /// The time of day as the server counts it.
    var instant: TidebellCore.Instant {
        TidebellCore.Instant(rawValue: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

extension SeededRandom {
    /// The source as the server takes it.
    var randomness: Randomness {
        Randomness(makeUUID: { self.uuid() }, makeBytes: { self.bytes($0) })
    }
}
