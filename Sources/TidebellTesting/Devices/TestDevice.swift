// SPDX-License-Identifier: Apache-2.0
public import CloudKit
public import Foundation
import Synchronization

/// A device of a user of a ``TestCloud``.
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
    /// The name of the user's account; nil if no user is signed in.
    public var user: String? { signedIn.withLock { $0.user } }

    /// The ID by which the server distinguishes the device from the user's other devices.
    public let deviceID: String

    /// The environment whose data the device works with.
    public let environment: TestCloud.Environment

    /// The device's own folder, for code that writes files; it is removed with the cloud.
    ///
    /// ```swift
    /// let store = await phone.run { NoteCache(folder: phone.home) }
    /// ```
    public let home: URL

    /// The device's own user defaults, for code that stores flags and change tokens in user
    /// defaults: all devices of a test, and tests that run in parallel, share
    /// `UserDefaults.standard`.
    ///
    /// They are empty at first, exist as long as the device, and are only in memory unless
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

    /// Returns a container of this device; nil means the cloud's default container.
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

    /// Signs a user in on this device, instead of the current user (nil signs out), as `tidebell
    /// login` does while an app runs. From then on the device's containers are the new user's, and
    /// operations of the previous user fail with `notAuthenticated`. When the method returns,
    /// `CKAccountChanged` has been posted.
    ///
    /// The device is no longer registered for pushes.
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

    /// Opens the URL of a share, as when the user taps it. The metadata that the system then passes
    /// to an app (`userDidAcceptCloudKitShareWith`) is passed to the closure that was set with
    /// `CKContainer.registerForOpenedShares` on this device, and returned, for tests that accept
    /// the share themselves.
    ///
    /// ```swift
    /// let metadata = try await bensPhone.open(shareURL: url)
    /// try await bensPhone.container().accept(metadata)
    /// ```
    ///
    /// Fails with `unknownItem` if the share does not exist or the user has no access to it, with
    /// `participantMayNeedVerification` if an address was invited that no account has, because it
    /// may be the user's, and with `invalidArguments` if the URL is not that of a share.
    @discardableResult
    public func open(shareURL: URL) async throws -> CKShare.Metadata {
        try await run { try await CKContainer.openShare(at: shareURL) }
    }

    // MARK: Pushes

    /// Registers the device for the pushes of a container; nil means the cloud's default container.
    ///
    /// Returns when the server has registered the device: every later change is pushed.
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

    /// Ends all registrations: later changes are not pushed to this device.
    public func unregisterForRemoteNotifications() {
        registrations.cancelAll()
        link.endRegistrations()
    }

    /// Waits for the oldest push that was not returned before, and returns it.
    ///
    /// Fails with ``TestCloudError/timedOut(_:after:)``, which contains the contents of the cloud,
    /// if none arrives within the cloud's safety limit.
    public func nextPush() async throws -> ReceivedPush {
        let (inbox, name, cloud) = (inbox, name, cloud)
        return try await cloud.changes.first(within: cloud.safetyLimit) {
            "no push reached \(name).\n" + (await cloud.reasonsForNoPush(to: self))
                + "The cloud contains:\n" + (await cloud.dumpOrFailure())
        } _: {
            inbox.take()
        }
    }

    /// Every push received so far, in order.
    public var pushes: [ReceivedPush] { inbox.received }

    /// The pushes that ``nextPush()`` has not returned yet, in order.
    ///
    /// After ``TestCloud/settle()`` an empty list means that nothing was sent.
    public var pendingPushes: [ReceivedPush] { inbox.pending }

    /// Returns the pending pushes in order and marks them as taken.
    public func takePushes() -> [ReceivedPush] { inbox.takeAll() }

    /// Settles the cloud, and fails if a push was not taken.
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

    /// Disconnects the device from the network: its requests fail, its pushes wait.
    public func goOffline() {
        link.setOnline(false)
    }

    /// Breaks the connection of the device's next requests just before their answers arrive: the
    /// server has done the work, but the device does not know.
    ///
    /// The same as `inject(.lostAnswer, times: count)`. The module repeats requests after a wait on
    /// the cloud's clock: see ``TestCloud/passingTime(upTo:isolation:_:)``.
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

    /// Connects the device to the network again, and returns when it is connected for pushes.
    ///
    /// The cloud's clock moves by the time that the device waits before it tries.
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
    var name: String { "the device \(deviceID) of \(user ?? "no user")" }

    /// The containers whose pushes the device receives, and since which
    /// notification.
    var registered: [String: Int64] { registrations.starts }
}
