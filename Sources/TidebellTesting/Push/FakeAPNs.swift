// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization

/// Apple's push service inside a test: an HTTP/2 server on this machine that is as
/// strict as Apple's and keeps what it takes.
///
/// It checks what Apple documents: path and device token, the signature and age of
/// the provider token, topic, push type and priority, sizes and JSON. What it refuses
/// it answers with Apple's status and `{"reason":…}`. It can be set to refuse, to be
/// silent or to hang up.
///
/// With a ``TestCloud`` it receives the pushes of devices that register a token of
/// Apple's:
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
/// Push code of one's own can be tested against it too: send to ``url``, trust
/// ``certificateFile``, and sign with ``keyFile``, ``keyID`` and ``teamID``.
///
/// ```swift
/// let apple = try await FakeAPNs()
/// apple.refuse(.unregistered(since: .now), tokens: [token])
/// try await myServer.send(greeting, to: token)
/// #expect(await myServer.knows(token) == false)
/// ```
public final class FakeAPNs: Sendable {
    /// The bundle ID of the app unless the fake is made with others.
    public static let defaultTopic = "org.example.app"

    /// The bundle IDs of the apps it knows, by the container they use.
    public let apps: [String: String]
    /// The ten characters that name the key.
    public let keyID = "TESTKEY123"
    /// The ten characters that name the team.
    public let teamID = "TESTTEAM12"
    /// The text of the `.p8` file to sign provider tokens with.
    public let keyFile: String
    /// A PEM file with the certificate the server shows.
    public let certificateFile: URL

    let state = Mutex(State())
    let changes = Changes()
    let rules: APNsRules
    private let time: ProviderTime
    let safetyLimit: Duration
    private let server: FakeAPNsServer

    /// Starts a server on a port the system chooses.
    ///
    /// - Parameters:
    ///   - apps: The bundle IDs of the apps it knows, by the container they use.
    ///   - clock: The clock that provider tokens are judged by; nil takes that of the
    ///     first ``TestCloud`` that is made with the fake, and the machine's until then.
    ///   - safetyLimit: How long (of real time) anything the test waits for may take.
    public init(
        apps: [String: String] = [TestCloud.defaultContainer: FakeAPNs.defaultTopic],
        clock: ManualClock? = nil,
        safetyLimit: Duration = TestCloud.defaultSafetyLimit
    ) async throws {
        self.apps = apps
        self.safetyLimit = safetyLimit
        let time = ProviderTime(clock)
        self.time = time
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

    /// Where it listens: `https://localhost` and a port.
    public var url: String { "https://localhost:\(server.port)" }

    /// The port it listens on.
    public var port: Int { server.port }

    // MARK: What it took

    /// Every push it took, in order of arrival.
    public var received: [Push] { state.withLock { $0.received } }

    /// The pushes that ``next()`` did not return yet, in order.
    public var pending: [Push] { state.withLock { Array($0.received[$0.taken...]) } }

    /// Returns the oldest push that was not returned before, waiting for it.
    ///
    /// Fails with ``TestCloudError/timedOut(_:after:)`` when none arrives within the
    /// safety limit.
    public func next() async throws -> Push {
        try await changes.first(within: safetyLimit) { [self] in
            "no push reached FakeAPNs; it answered \(answers)"
        } _: { [self] in
            state.withLock { $0.take() }
        }
    }

    /// Returns the next `count` pushes, waiting for them.
    public func next(_ count: Int) async throws -> [Push] {
        var pushes: [Push] = []
        for _ in 0..<count { pushes.append(try await next()) }
        return pushes
    }

    /// What it answered to every request, in order: `200`, `410 Unregistered`.
    public var answers: [String] { state.withLock { $0.answers } }

    /// Returns once it has given `count` answers in all.
    public func answered(_ count: Int) async throws {
        _ = try await changes.first(within: safetyLimit) { [self] in
            "FakeAPNs answered \(answers) and no more"
        } _: { [self] in
            state.withLock { $0.answers.count } >= count ? true : nil
        }
    }

    /// Connections made to it so far, whether or not they are still open.
    public var connectionCount: Int { server.connectionCount }

    // MARK: What it does instead

    /// Refuses the next `times` requests (nil: every one from now on), whatever they
    /// hold; with `tokens`, only those to these device tokens.
    ///
    /// Of several refusals the one ordered last goes first.
    public func refuse(_ refusal: Refusal, times: Int? = nil, tokens: Set<String>? = nil) {
        state.withLock {
            $0.orders.append(Order(deed: .refuse(refusal), left: times, tokens: tokens))
        }
    }

    /// Closes the connection instead of answering the next `times` requests.
    public func hangUp(times: Int) {
        state.withLock { $0.orders.append(Order(deed: .hangUp, left: times, tokens: nil)) }
    }

    /// Sends GOAWAY instead of answering the next `times` requests: none of
    /// those under way on the connection is dealt with.
    public func goAway(times: Int) {
        state.withLock { $0.orders.append(Order(deed: .goAway, left: times, tokens: nil)) }
    }

    /// Answers as it should again.
    public func behave() {
        state.withLock { $0.orders = [] }
    }

    /// Keeps its answers back until ``release()``; what it takes it takes then.
    public func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Gives the answers it kept back.
    public func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for answer in held { answer() }
    }

    /// Returns once `count` requests wait for ``release()``.
    public func held(_ count: Int) async throws {
        _ = try await changes.first(within: safetyLimit) { [self] in
            "\(state.withLock { $0.held.count }) requests wait at FakeAPNs"
        } _: { [self] in
            state.withLock { $0.held.count >= count ? true : nil }
        }
    }

    /// Closes all connections, as a network that fails does.
    public func dropConnections() {
        server.dropConnections()
    }

    /// Ends the server: further connections are refused.
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

    func follow(_ clock: ManualClock) {
        self.clock.withLock { $0 = $0 ?? clock }
    }
}
