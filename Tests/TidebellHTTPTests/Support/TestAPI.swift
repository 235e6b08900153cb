// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Logging
import Synchronization
import Testing
import TestSupport
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellServer
import TidebellTestStores
import TidebellWire

/// A cloud on a store of its own, called without a socket.
final class TestAPI: Sendable {
    static let container = "iCloud.org.example.notes"
    static let start = Instant(rawValue: 1_800_000_000_000)

    let cloud: CloudServices
    let clock: StepClock
    /// What is logged of failures.
    let log: TestLog
    let apiToken: String
    let webToken: String
    /// The record name of the user `me`.
    let user: String
    let folder: URL
    /// What fields are encrypted with; not in the folder.
    static let rootKey = RootKey(Array(repeating: 7, count: RootKey.length))

    init(
        limits: Limits = Limits(), heldRequests: HeldRequests = HeldRequests(),
        rootKey: RootKey? = TestAPI.rootKey, shares: ShareLimits = ShareLimits(),
        logLevel: Logger.Level = .error, metrics: HTTPMetrics = HTTPMetrics(),
        metricsText: @escaping @Sendable () -> String = { "" }, allowsSignUp: Bool = true,
        hasControls: Bool = false, files: FileStore = .folder,
        provider: (OpenIDProvider.Configuration, ProviderTransport)? = nil
    ) async throws {
        log = TestLog(level: logLevel)
        let folder = Self.newFolder()
        self.folder = folder
        let clock = StepClock(at: Self.start)
        self.clock = clock
        cloud = try Self.makeCloud(
            in: folder, clock, log, limits: limits, heldRequests: heldRequests, rootKey: rootKey,
            shares: shares, metrics: metrics, metricsText: metricsText,
            controls: hasControls ? TestControls { clock.advance(by: $0) } : nil,
            provider: provider, allowsSignUp: allowsSignUp, files: files
        )
        let firstRun = try await cloud.accounts.prepareFirstRun()
        apiToken = firstRun?.apiToken ?? ""
        webToken = firstRun?.webToken ?? ""
        let target = Self.target("public/users/caller", apiToken: apiToken, webToken: webToken)
        let caller = try await cloud.respond(.get, target).body.collect()
        user = try JSONReader.read(caller) { try CallerResponse(from: &$0) }.userRecordName
    }

    /// Opens the store of another cloud, whose callers it knows, in a folder that it takes over.
    init(
        on folder: URL, knowing callers: Callers, limits: Limits = Limits(),
        rootKey: RootKey? = TestAPI.rootKey
    ) throws {
        self.folder = folder
        log = TestLog(level: .error)
        clock = StepClock(at: Self.start.advanced(by: .seconds(3600)))
        (apiToken, webToken, user) = (callers.apiToken, callers.webToken, callers.user)
        cloud = try Self.makeCloud(
            in: folder, clock, log, limits: limits, rootKey: rootKey, seed: 2)
    }

    /// Who may call a cloud.
    struct Callers: Sendable {
        var apiToken: String
        var webToken: String
        var user: String
    }

    var callers: Callers { Callers(apiToken: apiToken, webToken: webToken, user: user) }

    /// A folder that is not there yet.
    static func newFolder() -> URL {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-http-\(UUID().uuidString)")
    }

    private static func makeCloud(
        in folder: URL, _ clock: StepClock, _ log: TestLog, limits: Limits,
        heldRequests: HeldRequests = HeldRequests(), rootKey: RootKey? = TestAPI.rootKey,
        shares: ShareLimits = ShareLimits(), metrics: HTTPMetrics = HTTPMetrics(),
        metricsText: @escaping @Sendable () -> String = { "" }, controls: TestControls? = nil,
        provider: (OpenIDProvider.Configuration, ProviderTransport)? = nil,
        allowsSignUp: Bool = true, files: FileStore = .folder, seed: UInt64 = 1
    ) throws -> CloudServices {
        let time = Time(now: { clock.instant }, clock: clock)
        return CloudServices(
            store: try TestStores.open(in: folder),
            secret: .test,
            assets: try TestFiles(files, in: folder).open(rootKey, logger: log.logger),
            rootKey: rootKey,
            limits: limits,
            time: time,
            randomness: .seeded(seed),
            heldRequests: heldRequests,
            shares: shares,
            // The standard takes seconds in a debug build.
            passwordCost: .least,
            metrics: metrics,
            metricsText: metricsText,
            controls: controls,
            provider: provider.map { OpenIDProvider($0.0, time: time, transport: $0.1) },
            allowsSignUp: allowsSignUp,
            logger: log.logger
        )
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Calls

    /// What came back.
    struct Answer: Sendable, Hashable {
        var status: Int
        var text: String
        var headers: HTTPFields = [:]

        subscript(header name: String) -> String? {
            HTTPField.Name(name).flatMap { headers[$0] }
        }

        /// The error of the body, without its UUID.
        var error: WireError? {
            guard var error = try? JSONReader.read(Array(text.utf8), WireError.init(from:)) else {
                return nil
            }
            error.uuid = nil
            return error
        }
    }

    /// Calls an endpoint of a database as `me`.
    func post(
        _ path: String, _ json: String, query: String = "", headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send("POST", target(path) + query, json, headers: headers)
    }

    /// Calls an endpoint of a database as `me`, without a body.
    func get(_ path: String, query: String = "") async throws -> Answer {
        try await send("GET", target(path) + query)
    }

    /// What a request from an address counts as.
    func origin(_ address: PeerAddress?) -> CountedAddress {
        cloud.webServices.cloud.shares.limits.counted(address, [:])
    }

    /// Sends any request.
    func send(
        _ method: String, _ target: String, _ body: String = "", headers: [String: String] = [:],
        from address: PeerAddress? = nil
    ) async throws -> Answer {
        let response = await cloud.respond(
            to: WebRequest(
                try #require(HTTPRequest.Method(method)), target, headers: HTTPFields(headers),
                body: .bytes(Array(body.utf8)), from: origin(address)
            )
        )
        return Answer(
            status: response.status,
            text: String(decoding: try await response.body.collect(), as: UTF8.self),
            headers: response.headers
        )
    }

    /// The target of an endpoint with the tokens of `me`; the path begins with
    /// the database.
    func target(_ path: String) -> String {
        Self.target(path, apiToken: apiToken, webToken: webToken)
    }

    /// The target of an endpoint of `/device` or `/ext`.
    func target(under root: String, _ path: String) -> String {
        "/\(root)/1/\(Self.container)/development/\(path)?ckAPIToken=\(apiToken)"
            + "&ckWebAuthToken=\(webToken)"
    }

    static func target(_ path: String, apiToken: String, webToken: String) -> String {
        "/database/1/\(container)/development/\(path)?ckAPIToken=\(apiToken)"
            + "&ckWebAuthToken=\(webToken)"
    }

    /// Creates a zone, and ignores the answer.
    func makeZone(_ name: String) async throws {
        _ = try await post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
        )
    }

    /// Saves a record in a zone as the device `clientID`.
    func save(_ name: String, in zone: String, from clientID: String = "writer") async throws {
        _ = try await post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"\(zone)"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"\(name)","recordType":"Note","fields":{}}}]}
            """,
            query: "&clientId=\(clientID)"
        )
    }

    /// Subscribes `me` to a zone.
    func subscribe(to zone: String) async throws {
        _ = try await post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s-\(zone)",\
            "subscriptionType":"zone","zoneID":{"zoneName":"\(zone)"},\
            "notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """
        )
    }

    /// The zone ID as answers carry it.
    func zoneID(_ name: String) -> String {
        let type = name == "_defaultZone" ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE"
        return #"{"zoneName":"\#(name)","ownerRecordName":"\#(user)","zoneType":"\#(type)"}"#
    }
}

extension StoreSecret {
    /// The secret of clouds whose store has none of its own.
    static let test = StoreSecret(root: Array(repeating: 5, count: StoreSecret.length))
}

extension Randomness {
    /// A source that a seed decides.
    static func seeded(_ seed: UInt64) -> Randomness {
        let state = Mutex(SeededGenerator(seed: seed))
        let bytes: @Sendable (Int) -> [UInt8] = { count in
            state.withLock { state in
                (0..<count).map { _ in UInt8.random(in: 0...255, using: &state) }
            }
        }
        return Randomness(
            makeUUID: {
                let bytes = bytes(16).map { String(format: "%02X", $0) }.joined()
                let parts = [8, 4, 4, 4, 12].reduce(into: (bytes[...], [String]())) {
                    rest, length in
                    rest.1.append(String(rest.0.prefix(length)))
                    rest.0 = rest.0.dropFirst(length)
                }.1
                return UUID(uuidString: parts.joined(separator: "-")) ?? UUID()
            },
            makeBytes: bytes
        )
    }
}
