// SPDX-License-Identifier: Apache-2.0
public import CloudKit
public import Foundation
import Synchronization

/// One device of one user of a ``TestCloud``.
///
/// ```swift
/// let phone = try await cloud.device(user: "anna")
/// let laptop = try await cloud.device(user: "anna")
/// try await phone.registerForRemoteNotifications()
///
/// try await laptop.run { try await app.saveNote("hello") }  // unchanged app code
///
/// let push = try await phone.nextPush()
/// ```
public final class TestDevice: Sendable {
    /// The name of the user's account; nil when nobody is signed in.
    public var user: String? { signedIn.withLock { $0.user } }

    /// The ID by which the server distinguishes the device from the user's others.
    public let deviceID: String

    /// The environment whose data the device works with.
    public let environment: TestCloud.Environment

    /// A folder of the device's own, for code that keeps files; it goes with the cloud.
    ///
    /// ```swift
    /// let store = await phone.run { NoteCache(folder: phone.home) }
    /// ```
    public let home: URL

    /// User defaults of the device's own, for code that keeps flags and change tokens in them: the
    /// devices of a test, and tests that run side by side, share `UserDefaults.standard`.
    ///
    /// They are empty at first, last as long as the device, and are in memory only unless
    /// `synchronize()` is called.
    ///
    /// ```swift
    /// let app = await phone.run { FeedApp(defaults: phone.defaults) }
    /// ```
    public var defaults: UserDefaults { ownDefaults.defaults }

    private let ownDefaults: DeviceDefaults
    let cloud: CloudState
    let link: DeviceLink
    let inbox = Inbox()
    let configuration: DeviceConfiguration
    private let session: DeviceSession
    private let signedIn: Mutex<SignedIn>

    /// Who is signed in.
    private struct SignedIn {
        var user: String?
        var webAuthToken: String?
    }
    private let registrations = Registrations()

    /// Creates a device, and the folder that is its home.
    init(
        user: String?,
        configuration: DeviceConfiguration,
        environment: TestCloud.Environment,
        cloud: CloudState
    ) throws {
        signedIn = Mutex(SignedIn(user: user, webAuthToken: configuration.webAuthToken))
        self.environment = environment
        self.cloud = cloud
        self.configuration = configuration
        deviceID = configuration.deviceID
        home = cloud.homes.appendingPathComponent(configuration.deviceID, isDirectory: true)
        ownDefaults = DeviceDefaults()
        link = DeviceLink(cloud: cloud, deviceID: deviceID)
        // Waits without chance: tests move the clock by their exact length.
        session = DeviceSession(
            configuration: configuration, transport: link,
            time: cloud.time(ofDevice: configuration.deviceID), jitter: { 0 }
        )
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    deinit { registrations.cancelAll() }

    /// Returns a container as this device sees it; nil stands for the cloud's
    /// default container.
    public func container(_ identifier: String? = nil) -> CKContainer {
        CKContainer(identifier: identifier ?? cloud.defaultContainer, session: session)
    }

    /// Runs app code as this device: inside, `CKContainer.default()` and
    /// `CKContainer(identifier:)` are this device's containers.
    ///
    /// ```swift
    /// try await phone.run {
    ///     try await CKContainer.default().privateCloudDatabase.save(record)
    /// }
    /// ```
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await DeviceSession.$current.withValue(session, operation: body)
    }

    /// Signs a user in on this device, replacing whoever was (nil: nobody), as
    /// `tidebell login` does while an app runs: its containers are the new user's from now
    /// on, operations of the old one fail with `notAuthenticated`, and `CKAccountChanged`
    /// was posted when this returns.
    ///
    /// The device is registered for no pushes any more.
    ///
    /// ```swift
    /// try await phone.signIn("ben")
    /// #expect(try await phone.container().accountStatus() == .available)
    /// ```
    ///
    /// - Returns: The device.
    @discardableResult
    public func signIn(_ user: String?) async throws -> TestDevice {
        unregisterForRemoteNotifications()
        link.refusal.set(nil)
        let token = try await cloud.makeWebToken(user: user)
        signedIn.withLock { $0 = SignedIn(user: user, webAuthToken: token) }
        if let token, let user {
            await session.signIn(webAuthToken: token, user: user)
        } else {
            await session.signOut()
        }
        return self
    }

    /// Signs the user out on this device: the account's status is `noAccount` from now on.
    ///
    /// ```swift
    /// try await phone.signOut()
    /// ```
    public func signOut() async throws {
        try await signIn(nil)
    }

    // MARK: Shares

    /// Opens the URL of a share, as when the user taps it: what an app gets from the system then
    /// (`userDidAcceptCloudKitShareWith`) is handed to the app, where it set
    /// `CKContainer.registerForOpenedShares` on this device, and returned, for tests that accept
    /// it by themselves.
    ///
    /// ```swift
    /// let metadata = try await bensPhone.open(shareURL: url)
    /// try await bensPhone.container().accept(metadata)
    /// ```
    ///
    /// Fails with `unknownItem` for the URL of a share that does not exist, or is closed to the
    /// user; with `participantMayNeedVerification` for that of a share to which an address was
    /// invited that has no account, which may be the user's; with `invalidArguments` for a URL
    /// that is none of a share.
    @discardableResult
    public func open(shareURL: URL) async throws -> CKShare.Metadata {
        try await run { try await CKContainer.openShare(at: shareURL) }
    }

    // MARK: Pushes

    /// Registers the device for the pushes of a container; nil stands for the
    /// cloud's default container.
    ///
    /// Returns when the server knows the device: every later change is pushed.
    public func registerForRemoteNotifications(container identifier: String? = nil) async throws {
        let name = identifier ?? cloud.defaultContainer
        guard !registrations.contains(name) else { return }
        let inbox = inbox
        let changes = cloud.changes
        let registration = try await container(name).registerForRemoteNotifications { userInfo in
            inbox.add(ReceivedPush(userInfo: userInfo, containerIdentifier: name))
            changes.notify()
        }
        registrations.add(
            registration, for: name, since: try await cloud.acknowledged(self, in: name))
    }

    /// Ends the registrations: later changes are not pushed to this device.
    public func unregisterForRemoteNotifications() {
        registrations.cancelAll()
    }

    /// Returns the oldest push that was not returned before, waiting for it.
    ///
    /// Fails with ``TestCloudError/timedOut(_:after:)``, which shows what the cloud
    /// holds, when none arrives within the cloud's safety limit.
    public func nextPush() async throws -> ReceivedPush {
        let (inbox, name, cloud) = (inbox, name, cloud)
        return try await cloud.changes.first(within: cloud.safetyLimit) {
            "no push reached \(name).\n" + (await cloud.reasonsForNoPush(to: self))
                + "The cloud holds:\n" + (await cloud.dumpOrFailure())
        } _: {
            inbox.take()
        }
    }

    /// Every push received so far, in order.
    public var pushes: [ReceivedPush] { inbox.received }

    /// The pushes that ``nextPush()`` did not return yet, in order.
    ///
    /// After ``TestCloud/settle()`` an empty list means that nothing was sent.
    public var pendingPushes: [ReceivedPush] { inbox.pending }

    /// Returns the pending pushes in order and counts them as taken.
    public func takePushes() -> [ReceivedPush] { inbox.takeAll() }

    /// Fails unless every push was taken: settles the cloud and looks.
    ///
    /// ```swift
    /// try await laptop.expectNoPushes()  // its own change does not come back
    /// ```
    public func expectNoPushes() async throws {
        try await cloud.settle()
        let pending = pendingPushes
        guard pending.isEmpty else {
            let list = pending.map(\.json).joined(separator: "\n")
            throw TestCloudError.unexpectedPushes("\(name) received\n\(list)")
        }
    }

    // MARK: Network

    /// Whether the device reaches the server.
    public var isOnline: Bool { link.isOnline }

    /// Takes the device off the network: its requests fail, its pushes wait.
    public func goOffline() {
        link.setOnline(false)
    }

    /// Breaks the connection of the device's next requests just before their answers
    /// arrive: the server has done what was asked, but the device does not know.
    ///
    /// The same as `inject(.lostAnswer, times: count)`. What is sent again is sent after a wait on the
    /// cloud's clock: see ``TestCloud/passingTime(upTo:isolation:_:)``.
    ///
    /// ```swift
    /// phone.loseNextAnswers(1)
    /// try await cloud.passingTime { try await store.save("milk", as: "shopping") }
    /// ```
    public func loseNextAnswers(_ count: Int) {
        inject(.lostAnswer, times: count)
    }

    /// Stops the device's transfers of files, from the next one on, each after so many
    /// bytes.
    package func holdTransfers(after bytes: Int) -> TransferHold {
        let hold = TransferHold(
            after: bytes, changes: cloud.changes, safetyLimit: cloud.safetyLimit
        )
        link.hold(hold)
        return hold
    }

    /// Brings the device back and returns when it is connected again for pushes.
    ///
    /// The cloud's clock moves on by the time the device waits before it tries.
    public func goOnline() async throws {
        link.setOnline(true)
        try await cloud.connectDevices()
    }

    // MARK: -

    /// Waits until the app was notified of what changed about the account.
    func flushAccountChanges() async { await session.flushAccountChanges() }

    /// The web token of the user.
    var webAuthToken: String? { signedIn.withLock { $0.webAuthToken } }

    /// The device as error texts call it.
    var name: String { "the device \(deviceID) of \(user ?? "nobody")" }

    /// The containers whose pushes the device receives, and since which
    /// notification.
    var registered: [String: Int64] { registrations.starts }
}
