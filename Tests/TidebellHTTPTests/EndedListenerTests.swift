// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellTestStores
import TidebellWire
import HTTPTypes
import TidebellServer

/// What ended receives nothing (H5, W-4, W-12).
@Suite("Streams and couriers of those who may receive no more", .hangs)
struct EndedListenerTests {
    /// How a caller comes to receive no more.
    enum Ending: String, CaseIterable, Sendable {
        case signedOut, signedOutByOperator, expired, disabled, removed
        case disabledByAnotherProcess, deviceTakenOver
        /// Streams only: the URL of a courier is its only credential.
        case apiTokenRevoked, apiTokenExpired

        static let ofCouriers = allCases.filter {
            $0 != .apiTokenRevoked && $0 != .apiTokenExpired
        }
    }

    private let api: TestAPI
    /// The web token of Anna, who is watched.
    private let anna: String

    init() async throws {
        api = try await TestAPI()
        anna = try await api.cloud.accounts.add(named: "anna", tokenLifetime: .seconds(3600))
        try await post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"A"}}}]}"#
        )
        try await post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
            "subscriptionType":"zone","zoneID":{"zoneName":"A"},\
            "notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """
        )
    }

    private func target(_ path: String, as token: String? = nil) -> String {
        "\(path)?ckAPIToken=\(api.apiToken)&ckWebAuthToken=\(token ?? anna)"
    }

    private func post(_ path: String, _ body: String) async throws {
        let answer = try await api.send(
            "POST", target("/database/1/\(TestAPI.container)/development/\(path)"), body
        )
        #expect(answer.status == 200, "\(answer.text)")
    }

    private func ext(_ path: String, as token: String? = nil) -> String {
        target("/ext/1/\(TestAPI.container)/development/\(path)", as: token)
    }

    /// Opens the stream of Anna's device, up to its `ready`.
    private func open() async throws -> Pieces {
        var pieces = Pieces(
            await api.cloud.respond(.get, ext("notifications/stream") + "&clientId=device"))
        let ready = try await pieces.next()
        #expect(ready?.hasPrefix("event: ready") == true)
        return pieces
    }

    /// Makes a courier for Anna's device and returns its path.
    private func courier(clientID: String = "device") async throws -> String {
        let answer = try await api.send(
            "POST",
            target("/device/1/\(TestAPI.container)/development/tokens/create")
                + "&clientId=\(clientID)",
            #"{"apnsEnvironment":"development"}"#
        )
        let url = try #require(
            answer.text.firstMatch(of: /http:\/\/localhost(\/courier\/[0-9a-f]+)/))
        return String(url.output.1)
    }

    private func bring(about ending: Ending) async throws {
        let accounts = api.cloud.accounts
        switch ending {
        case .signedOut:
            // Without a client ID: the device stays, its session ends.
            let answer = try await api.send("POST", ext("account/signOut"), "{}")
            #expect(answer.status == 200)
        case .signedOutByOperator: _ = try await accounts.signOut("anna")
        case .expired: api.clock.advance(by: .seconds(3601))
        case .disabled: _ = try await accounts.setDisabled(true, "anna")
        case .removed: _ = try await accounts.remove(named: "anna")
        case .disabledByAnotherProcess:
            let other = try TestStores.open(in: api.folder, for: .administering)
            try await other.write(.everything) { transaction in
                guard let account = try transaction.account(named: "anna") else { return }
                try transaction.setDisabled(true, account)
            }
            try await other.close()
            api.clock.advance(by: ListenerWatch.interval)
        case .apiTokenRevoked:
            let hash = Secret.hash(api.apiToken)
            try await api.cloud.store.write(.everything) { try $0.removeToken(hash: hash, .api) }
            api.clock.advance(by: ListenerWatch.interval)
        case .apiTokenExpired:
            let (hash, now) = (Secret.hash(api.apiToken), api.clock.instant)
            try await api.cloud.store.write(.everything) { transaction in
                var token = try #require(try transaction.token(hash: hash, .api))
                token.expiresAt = now
                try transaction.putToken(token, .api)
            }
            api.clock.advance(by: ListenerWatch.interval)
        case .deviceTakenOver:
            var pieces = Pieces(
                await api.cloud.respond(
                    .get, ext("notifications/stream", as: api.webToken) + "&clientId=device")
            )
            _ = try await pieces.next()
        }
        api.clock.advance(by: PushConfiguration().listenerPause)
    }

    /// Runs the watch while `body` runs, from its first sleep on.
    private func watching(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await api.cloud.watch.run() }
            #expect(await eventually { api.clock.sleeperCount > 0 })
            try await body()
            group.cancelAll()
        }
    }

    @Test(
        "H5: a stream ends with its session, its account, its device or its API token",
        arguments: Ending.allCases)
    func stream(ending: Ending) async throws {
        try await watching {
            var pieces = try await open()
            try await bring(about: ending)
            #expect(try await pieces.next() == nil)
        }
        #expect(await eventually { api.cloud.watch.count == 0 })
    }

    @Test(
        "H5: a stream whose session ends while it is opened receives nothing, watched or not",
        arguments: Ending.allCases)
    func opened(ending: Ending) async throws {
        let response = await api.cloud.respond(
            .get, ext("notifications/stream") + "&clientId=device")
        try await bring(about: ending)
        var pieces = Pieces(response)
        let ready = try await pieces.next()
        #expect(ready?.hasPrefix("event: ready") == true)
        #expect(try await pieces.next() == nil)
    }

    @Test(
        "H5: a poll that waits ends likewise, and the next one is 404",
        arguments: Ending.ofCouriers)
    func poll(ending: Ending) async throws {
        try await watching {
            let courier = try await courier()
            async let poll = api.send("GET", courier)
            #expect(await eventually { api.cloud.watch.count == 1 })
            try await bring(about: ending)
            let answer = try await poll
            #expect(answer.status == 200 && answer.text.isEmpty)
            let next = try await api.send("GET", courier)
            #expect(next.status == 404 && next.error?.code == .notFound)
        }
    }

    @Test(
        "H5: what waits for a courier is not given out after its session",
        arguments: Ending.ofCouriers)
    func waiting(ending: Ending) async throws {
        let courier = try await courier()
        try await post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"A"},"operations":[{"operationType":"create",\
            "record":{"recordName":"a","recordType":"Note","fields":{}}}]}
            """
        )
        #expect(try await api.cloud.pipeline.drain() == 1)
        try await bring(about: ending)
        let answer = try await api.send("GET", courier)
        #expect(answer.status == 404 && answer.error?.code == .notFound)
    }

    @Test("H5: a session that is renewed goes on receiving, long after its first token")
    func renewed() async throws {
        try await api.cloud.accounts.setPassword(
            "correct horse", of: "anna", keepsTokens: true, cost: .least)
        let signIn = try await api.send(
            "POST",
            "/ext/1/\(TestAPI.container)/development/account/signIn?ckAPIToken=\(api.apiToken)",
            #"{"user":"anna","password":"correct horse"}"#
        )
        let first = try JSONReader.read(Array(signIn.text.utf8)) {
            try SignIn.Response(from: &$0).webAuthToken
        }
        try await watching {
            var pieces = Pieces(
                await api.cloud.respond(
                    .get, ext("notifications/stream", as: first) + "&clientId=phone"))
            _ = try await pieces.next()
            // Past the middle of its lifetime an answer brings the next token.
            api.clock.advance(by: WebTokenRules.signInLifetime * 0.75)
            let caller = "/database/1/\(TestAPI.container)/development/public/users/caller"
            let answer = try await api.send("GET", target(caller, as: first))
            let next = try #require(answer[header: WireProtocol.webAuthTokenHeader])
            api.clock.advance(by: WebTokenRules.signInLifetime * 0.5)
            try await api.cloud.watch.look()
            #expect(api.cloud.watch.count == 1)
            // It ends with the session, whichever token that is ended with.
            _ = try await api.send("POST", ext("account/signOut", as: next), "{}")
            api.clock.advance(by: PushConfiguration().listenerPause)
            while let piece = try await pieces.next() { #expect(piece.hasPrefix(":")) }
            #expect(api.cloud.watch.count == 0)
        }
    }

    @Test("H5: a caller who is remembered, but signed out, opens no stream and makes no token")
    func remembered() async throws {
        _ = try await courier()
        let store = api.cloud.store
        try await store.write(.everything) { transaction in
            guard let account = try transaction.account(named: "anna") else { return }
            try transaction.setDisabled(true, account)
        }
        let stream = try await api.send("GET", ext("notifications/stream") + "&clientId=device")
        #expect(stream.status == 421)
        let token = try await api.send(
            "POST", target("/device/1/\(TestAPI.container)/development/tokens/create"),
            #"{"apnsEnvironment":"development"}"#
        )
        #expect(token.status == 421)
    }

    @Test("H5: a native push token receives nothing after its session, and goes on with the next")
    func native() async throws {
        let path = "/device/1/\(TestAPI.container)/development/tokens/register"
        func register(as token: String? = nil) async throws {
            let answer = try await api.send(
                "POST", target(path, as: token) + "&clientId=phone",
                #"{"apnsEnvironment":"development","apnsToken":"ab"}"#
            )
            #expect(answer.status == 200)
        }
        func isPushTarget() async throws -> Bool {
            let now = api.clock.instant
            return try await api.cloud.store.read { reader in
                let container = ContainerKey(
                    container: TestAPI.container, environment: .development)
                guard let account = try reader.account(named: "anna"),
                    let user = try reader.user(of: account, in: container),
                    let phone = try reader.devices(of: user.id).first
                else { return false }
                let key = PushTargetKey(token: "ab", device: phone.key)
                return try reader.pushTarget(key, at: now) != nil
            }
        }
        try await register()
        #expect(try await isPushTarget())
        try await bring(about: .expired)
        #expect(try await !isPushTarget())
        try await register(as: try await api.cloud.accounts.makeWebToken(for: "anna"))
        #expect(try await isPushTarget())
    }
}
