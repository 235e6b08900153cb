// SPDX-License-Identifier: Apache-2.0
package import Foundation
import TidebellWire

/// One device of one user: its configuration, its way to the server, its clock.
///
/// A process is one device, ``process``. Tests run several in one process: code inside
/// `DeviceSession.$current.withValue(session) { … }` gets its containers on that device.
package final class DeviceSession: Sendable {
    /// The device on which containers are made in this task; nil is the process.
    @TaskLocal package static var current: DeviceSession?

    /// The device that the process is, configured as ``DeviceConfiguration`` describes.
    static let process = DeviceSession(
        variables: ProcessInfo.processInfo.environment
    )

    /// The most operations of a device that run at a time, and likewise of those that wait
    /// for the network; others wait their turn.
    static let maximumRunningOperations = 256

    /// The configuration, or why there is none; ``accounts`` knows who is signed in.
    let configuration: Result<DeviceConfiguration, CKError>
    /// Who is signed in.
    let accounts: DeviceAccounts
    /// The way to the server of the configuration.
    let transport: any Transport
    private let reachesOtherServers: Bool
    /// The device's time; the date is for what is compared with what an earlier process did.
    private let time: Time
    /// A random number from 0 to 1 each time: how much of their spread waits take.
    let jitter: @Sendable () -> Double
    /// Says that operations wait for the network.
    let waitNotice: WaitNotice
    /// The waits servers asked for.
    let throttles = Locked(Throttles())
    /// Where operations run that were added to a database or a container.
    let operations: OperationQueue
    /// Where those of them run that wait for the network, so that nobody else waits for
    /// them.
    let patientOperations = DeviceSession.makeOperationQueue()

    /// How far the pushes of each container were handled, by file name; what counts on a
    /// device without a state folder.
    let notificationCursors = Locked<[String: String]>([:])

    /// What the app does with shares that its user opens.
    let openedShares = Locked<(@Sendable (CKShare.Metadata) async -> Void)?>(nil)

    /// The journals of long-lived operations this process works on, by operation.
    let journals = Locked<[String: WeakJournal]>([:])

    private let userRecordNames = Locked<[UserKey: String]>([:])
    private let defaultContainer = Locked(WeakContainer())
    private let onlyContainer = Locked<String?>(nil)

    /// What waits wait with.
    var clock: any Clock<Duration> { time.clock }

    /// The date, for what is compared with what an earlier process did.
    @Sendable func date() -> Date { time.now().date }

    /// Creates a device on the machine's time and chance.
    package convenience init(configuration: DeviceConfiguration, transport: any Transport) {
        self.init(
            configuration: configuration, transport: transport, time: .system,
            jitter: Randomness.system.makeFraction
        )
    }

    /// Creates a device.
    ///
    /// - Parameter notice: What is told, once, that operations wait for the network.
    package init(
        configuration: DeviceConfiguration,
        transport: any Transport,
        time: Time,
        jitter: @escaping @Sendable () -> Double,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        waitNotice = WaitNotice(notice)
        self.configuration = .success(configuration)
        accounts = DeviceAccounts(self.configuration, clock: time.clock)
        self.transport = transport
        reachesOtherServers = false
        self.time = time
        self.jitter = jitter
        operations = Self.makeOperationQueue()
    }

    /// Creates the device that the environment variables describe.
    package init(variables: [String: String]) {
        waitNotice = .standardError(variables)
        do {
            let configuration = try DeviceConfiguration.load(environment: variables)
            self.configuration = .success(configuration)
            transport = HTTPTransport(server: configuration.server)
        } catch {
            // Every request fails with the reason; reading it must not need one.
            configuration = .failure(CKError(error))
            transport = NoTransport()
        }
        time = .system
        jitter = Randomness.system.makeFraction
        accounts = DeviceAccounts(configuration, clock: time.clock)
        reachesOtherServers = true
        operations = Self.makeOperationQueue()
    }

    private static func makeOperationQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "CloudKit operations"
        queue.maxConcurrentOperationCount = maximumRunningOperations
        return queue
    }

    /// Runs an operation, after those it depends on.
    func add(_ operation: CKOperation) {
        let isPatient = operation.effectiveConfiguration.waitsForNetwork
        (isPatient ? patientOperations : operations).addOperation(operation)
    }

    /// The identifier of the default container: the one that is configured, else the only
    /// one somebody is signed in to, from when there is one; then always that.
    var defaultContainerIdentifier: String? {
        if let configured = (try? configuration.get())?.defaultContainer { return configured }
        if let known = onlyContainer.current { return known }
        guard let found = accounts.onlyContainer else { return nil }
        return onlyContainer.withLock { known in
            known = known ?? found
            return known
        }
    }

    /// The container that `CKContainer.default()` returns on this device.
    func makeDefaultContainer() -> CKContainer {
        defaultContainer.withLock { known in
            if let container = known.container { return container }
            let container = CKContainer(
                connection: ContainerConnection(identifier: nil, session: self)
            )
            known.container = container
            return container
        }
    }

    /// The way to the server of a container.
    func transport(to configuration: DeviceConfiguration) -> any Transport {
        guard reachesOtherServers else { return transport }
        return HTTPTransport(server: configuration.server)
    }

    /// The signed-in user's record name in a container, as far as answers contained it.
    func userRecordName(in container: String) -> String? {
        guard let account = accounts.knownAccount(of: container) else { return nil }
        return account.recordName
            ?? userRecordNames.withLock { $0[UserKey(container: container, account: account)] }
    }

    /// Remembers the signed-in user's record name in a container.
    func learn(userRecordName: String, in container: String) {
        guard let account = accounts.knownAccount(of: container) else { return }
        userRecordNames.withLock {
            $0[UserKey(container: container, account: account)] = userRecordName
        }
    }

    // MARK: - For tests

    /// Signs a user in to all containers, replacing whoever was; returns when the app
    /// was notified.
    package func signIn(webAuthToken: String, user: String) async {
        accounts.signIn(token: webAuthToken, user: user)
        await accounts.flush()
    }

    /// Returns when the app was notified of every change of the account so far.
    package func flushAccountChanges() async {
        await accounts.flush()
    }

    /// Signs the user out; returns when the app was notified.
    package func signOut() async {
        accounts.signOut()
        await accounts.flush()
    }
}

/// A user in a container.
private struct UserKey: Hashable {
    var container: String
    var account: DeviceAccount
}

/// The default container, kept as long as the app keeps it.
private struct WeakContainer {
    weak var container: CKContainer?
}

/// Stands where there is no configuration, and so no server.
private struct NoTransport: Transport {
    func send(_: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        throw TransportError.unreachable("the device is not configured")
    }

    func stream(_: TransportRequest) async throws -> TransportStream {
        throw TransportError.unreachable("the device is not configured")
    }
}

extension Notification {
    /// Whether an account notification is about another device of the same process; one
    /// that names no device is about all.
    func isOfOther(than device: DeviceSession) -> Bool {
        userInfo?[DeviceAccounts.deviceKey] != nil && !isOf(device)
    }

    /// Whether an account notification is about a device.
    package func isOf(_ device: DeviceSession) -> Bool {
        userInfo?[DeviceAccounts.deviceKey] as? ObjectIdentifier
            == ObjectIdentifier(device.accounts)
    }
}
