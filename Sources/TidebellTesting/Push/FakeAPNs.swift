// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization

/// Stands in for Apple's push service in a test: an HTTP/2 server on this machine that is as strict
/// as Apple's and keeps the pushes it accepts.
///
/// It checks what Apple documents: path and device token, the signature and age of the provider
/// token, topic, push type and priority, sizes and JSON. It refuses pushes with Apple's status and
/// `{"reason":…}`. It can be told to refuse pushes, to keep its answers back, or to close
/// connections.
///
/// With a ``TestCloud`` it receives the pushes of devices that register an Apple device token:
///
/// ```swift
/// let apple = try await FakeAPNs()
/// let cloud = try await TestCloud(apns: apple)
/// let phone = try await cloud.device(user: "anna")
/// let token = try await phone.registerAppleDevice()
/// // … subscribe on the phone, save on the laptop …
/// let push = try await apple.next()
/// #expect(push.deviceToken == token)
/// #expect(push.pushType == "background")
/// ```
///
/// You can also test your own push code with it: send to ``url``, trust ``certificateFile``, and
/// sign with ``keyFile``, ``keyID`` and ``teamID``.
///
/// ```swift
/// let apple = try await FakeAPNs()
/// apple.refuse(.unregistered(since: .now), tokens: [token])
/// try await myServer.send(greeting, to: token)
/// #expect(await myServer.knows(token) == false)
/// ```
public final class FakeAPNs: Sendable {
    /// The bundle ID of the app, unless others are named.
    public static let defaultTopic = "org.example.app"

    /// The bundle IDs of its apps, by container.
    public let apps: [String: String]
    /// The ID of the key, ten characters.
    public let keyID = "TESTKEY123"
    /// The ID of the team, ten characters.
    public let teamID = "TESTTEAM12"
    /// The content of the `.p8` file to sign provider tokens with.
    public let keyFile: String
    /// A PEM file with the server's certificate.
    public let certificateFile: URL

    let state = Mutex(State())
    let changes: Changes
    let rules: APNsRules
    private let time: ProviderTime
    let safetyLimit: Duration
    private let server: FakeAPNsServer

    /// Starts a server on a port the system chooses.
    ///
    /// - Parameters:
    ///   - apps: The bundle IDs of its apps, by container.
    ///   - clock: The clock for the age of provider tokens; nil means the clock of the first
    ///     ``TestCloud`` that is made with this object, and the machine's clock until then.
    ///   - safetyLimit: The longest time (in real time) that the test waits for anything while the
    ///     clock stands still.
    public init(
        apps: [String: String] = [TestCloud.defaultContainer: FakeAPNs.defaultTopic],
        clock: ManualClock? = nil,
        safetyLimit: Duration = TestCloud.defaultSafetyLimit
    ) async throws {
        self.apps = apps
        self.safetyLimit = safetyLimit
        let time = ProviderTime(clock)
        self.time = time
        changes = Changes { time.moment }
        let key = SigningKey()
        keyFile = key.pem
        rules = APNsRules(
            topics: Set(apps.values), keyID: keyID, teamID: teamID, key: key,
            now: { time.now }
        )
        let identity = try ServerIdentity()
        certificateFile = try identity.writeCertificate()
        server = try await FakeAPNsServer(identity)
        server.serve(self)
    }

    deinit {
        server.close()
        // What cannot be removed is one more file in the system's temporary folder.
        try? FileManager.default.removeItem(at: certificateFile)
    }

    /// Judges provider tokens by a clock, unless it was made with one.
    func follow(_ clock: ManualClock) {
        time.follow(clock)
    }

    /// The URL it listens at: `https://localhost` and a port.
    public var url: String { "https://localhost:\(server.port)" }

    /// The port it listens at.
    public var port: Int { server.port }

    // MARK: What it took

    /// All accepted pushes, in order of arrival.
    public var received: [Push] { state.withLock { $0.received } }

    /// The pushes that ``next()`` has not returned yet, in order.
    public var pending: [Push] { state.withLock { Array($0.received[$0.taken...]) } }

    /// Waits for the oldest push that was not returned before, and returns it.
    ///
    /// Fails with ``TestCloudError/timedOut(_:after:)`` if none arrives within the safety limit.
    public func next() async throws -> Push {
        try await changes.first(within: safetyLimit) { [self] in
            "no push reached FakeAPNs; it answered \(answers)"
        } _: { [self] in
            state.withLock { $0.take() }
        }
    }

    /// Waits for the next `count` pushes, and returns them.
    public func next(_ count: Int) async throws -> [Push] {
        var pushes: [Push] = []
        for _ in 0..<count { pushes.append(try await next()) }
        return pushes
    }

    /// The answers to all requests, in order, such as `200` or `410 Unregistered`.
    public var answers: [String] { state.withLock { $0.answers } }

    /// Waits until it has sent `count` answers in all.
    public func answered(_ count: Int) async throws {
        _ = try await changes.first(within: safetyLimit) { [self] in
            "FakeAPNs answered \(answers) and no more"
        } _: { [self] in
            state.withLock { $0.answers.count } >= count ? true : nil
        }
    }

    /// The number of connections so far, open or closed.
    public var connectionCount: Int { server.connectionCount }

    // MARK: What it does instead

    /// Refuses the next `times` requests (with nil, all requests from now on), whatever they
    /// contain; with `tokens`, only requests to these device tokens.
    ///
    /// If there are several refusals, the one that was set last is used first.
    public func refuse(_ refusal: Refusal, times: Int? = nil, tokens: Set<String>? = nil) {
        state.withLock {
            $0.orders.append(Order(deed: .refuse(refusal), left: times, tokens: tokens))
        }
    }

    /// Closes the connection instead of answering the next `times` requests.
    public func hangUp(times: Int) {
        state.withLock { $0.orders.append(Order(deed: .hangUp, left: times, tokens: nil)) }
    }

    /// Sends GOAWAY instead of answering the next `times` requests: no request under way on the
    /// connection is processed.
    public func goAway(times: Int) {
        state.withLock { $0.orders.append(Order(deed: .goAway, left: times, tokens: nil)) }
    }

    /// Ends all refusals and failures.
    public func behave() {
        state.withLock { $0.orders = [] }
    }

    /// Keeps its answers back until ``release()``; pushes are accepted only then.
    public func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Sends the answers that it kept back.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for answer in held { answer() }
    }

    /// Waits until `count` requests wait for ``release()``.
    public func held(_ count: Int) async throws {
        _ = try await changes.first(within: safetyLimit) { [self] in
            "\(state.withLock { $0.held.count }) requests wait at FakeAPNs"
        } _: { [self] in
            state.withLock { $0.held.count >= count ? true : nil }
        }
    }

    /// Closes all connections, as when the network fails.
    public func dropConnections() {
        server.dropConnections()
    }

    /// Stops the server: further connections are refused.
    public func stop() async {
        await server.stop()
    }
}

/// The time of day that providers' tokens are judged by.
private final class ProviderTime: Sendable {
    private let clock: Mutex<ManualClock?>

    init(_ clock: ManualClock?) {
        self.clock = Mutex(clock)
    }

    var now: Date { clock.withLock { $0 }?.date ?? Date() }

    /// What the clock of the test shows.
    var moment: ManualClock.Instant? { clock.withLock { $0 }?.now }

    func follow(_ clock: ManualClock) {
        self.clock.withLock { $0 = $0 ?? clock }
    }
}
