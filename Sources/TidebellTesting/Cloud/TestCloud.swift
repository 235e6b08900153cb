// SPDX-License-Identifier: Apache-2.0
package import CloudKit

/// A whole cloud inside a test: the server with its database, its rules and its
/// push pipeline, and as many devices as the test needs.
///
/// ```swift
/// @Test func aNoteReachesTheOtherDevice() async throws {
///     let cloud = try await TestCloud()
///     let phone = try await cloud.device(user: "anna")
///     let laptop = try await cloud.device(user: "anna")
///     // … subscribe on the phone, save on the laptop …
///     let push = try await phone.nextPush()
///     #expect(push.notification is CKDatabaseNotification)
/// }
/// ```
///
/// Only time and randomness are simulated: the clock stands still until the test moves ``clock``,
/// and UUIDs are made from the seed. The database is a temporary file, which is removed when the
/// cloud and its devices are released.
public final class TestCloud: Sendable {
    /// The two environments of a container.
    public enum Environment: String, Sendable, CaseIterable {
        /// For the development of apps; record types are created by saving records.
        case development
        /// For apps in use; it has what was deployed to it.
        case production
    }

    /// The container of `CKContainer.default()` unless the cloud is made with
    /// another.
    public static let defaultContainer = "iCloud.org.example.app"

    /// The longest time (in real time) that a test waits for anything, unless the cloud is made
    /// with another limit: ten minutes, so that no test fails because its machine is busy.
    public static let defaultSafetyLimit = Duration.seconds(600)

    let state: CloudState
    /// The file of the schema that both environments begin with.
    let schema: String?

    /// Starts a cloud.
    ///
    /// - Parameters:
    ///   - container: The container of `CKContainer.default()` on all devices.
    ///   - environment: The environment of devices that are made without one.
    ///   - schema: The path of a `.ckdb` file, in the CloudKit Schema Language, that both environments
    ///     begin with: in production, what it lacks is refused, so that a test finds it. Nil for an
    ///     empty schema. See ``checkSchema(_:)`` for what a test in development used.
    ///   - sockets: Whether devices reach the server over HTTP on 127.0.0.1, as real devices do,
    ///     instead of by function calls.
    ///   - limits: The limits of the server.
    ///   - strictness: Whether to refuse requests that only Apple's servers refuse.
    ///   - seed: The seed of UUIDs and tokens.
    ///   - clock: The clock of server and devices.
    ///   - apns: The push service for Apple's devices, for the containers whose apps it knows; nil
    ///     for none.
    ///   - safetyLimit: The longest time (in real time) that the test waits for anything while the
    ///     clock stands still. It makes a test fail that would hang otherwise.
    public init(
        container: String = TestCloud.defaultContainer,
        environment: Environment = .development,
        schema: String? = nil,
        sockets: Bool = false,
        limits: ServerLimits = ServerLimits(),
        strictness: ServerStrictness = .lenient,
        seed: UInt64 = 1,
        clock: ManualClock = ManualClock(),
        apns: FakeAPNs? = nil,
        safetyLimit: Duration = TestCloud.defaultSafetyLimit
    ) async throws {
        self.schema = schema
        state = try CloudState(
            defaultContainer: container,
            environment: environment,
            usesSockets: sockets,
            limits: limits,
            strictness: strictness,
            seed: seed,
            clock: clock,
            apns: apns,
            safetyLimit: safetyLimit
        )
        try await state.start()
        if let schema { try await useSchema(schema) }
    }

    /// The clock of the server and of all devices.
    public var clock: ManualClock { state.clock }

    /// Makes a new device of a user. The first device of a user also creates the account.
    ///
    /// - Parameters:
    ///   - user: The name of the account; nil for a device without a signed-in user.
    ///   - environment: The environment whose data the device works with; nil for the cloud's.
    public func device(
        user: String?,
        environment: Environment? = nil
    ) async throws -> TestDevice {
        try await state.makeDevice(user: user, environment: environment ?? state.environment)
    }

    /// Adds a verified email address or phone number to a user, by which others can invite them to
    /// shares (SHARE-22).
    ///
    /// Fails if no device of the user was made yet, if another user has the address, and if the
    /// text is neither an email address nor a phone number.
    public func addAddress(_ address: String, of user: String) async throws {
        try await state.addAddress(address, of: user)
    }

    /// Returns when nothing is pending: every change was delivered, and every connected
    /// device has received its pushes.
    ///
    /// ```swift
    /// try await cloud.settle()
    /// #expect(phone.pendingPushes.isEmpty)  // means: nothing was sent
    /// ```
    public func settle() async throws {
        try await state.settle()
    }

    /// Stops the server, starts it again on the same database, and returns when
    /// the devices that were connected are connected again.
    ///
    /// The clock moves by the time that the devices wait before they try again.
    public func restart() async throws {
        try await stop()
        try await start()
    }

    /// Stops the server: requests fail as if the server were switched off.
    public func stop() async throws {
        try await state.stop()
    }

    /// Starts the server after ``stop()`` and returns when the devices that were
    /// connected are connected again.
    public func start() async throws {
        try await state.start()
        try await state.connectDevices()
    }

    /// The folder in which the server keeps the files of records.
    package var assetFolder: URL { state.folder.appendingPathComponent("assets") }

    /// Where devices put the files that they download.
    package var downloads: URL { state.downloads }

    /// The number of files on their way to or from the server.
    package func transferCount() throws -> Int { try state.running().transferCount }

    /// Returns everything that is stored as text: databases, zones, records and subscriptions,
    /// sorted, without change tags, dates and other values that a test cannot predict.
    ///
    /// ```
    /// iCloud.org.example.app development
    ///   anna private
    ///     zone Notes
    ///       Note n1 {"title":{"value":"hello","type":"STRING"}}
    ///     subscription notes-changes zone zone Notes
    /// ```
    ///
    /// It contains the containers that devices sent requests to.
    public func dump() async throws -> String {
        try await state.dump()
    }
}
