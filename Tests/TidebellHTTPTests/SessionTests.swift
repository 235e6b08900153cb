// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP
import TestSupport

@Suite("Sessions and tokens end")
struct SessionTests {
    private let api: TestAPI

    init() async throws {
        api = try await TestAPI()
        try await api.cloud.accounts.setPassword(
            "correct horse", of: "me", keepsTokens: true, cost: .least
        )
    }

    /// Another container and another environment than the one of `api`.
    private static let elsewhere = [
        (container: "iCloud.org.example.other", environment: "development"),
        (container: TestAPI.container, environment: "production"),
    ]

    /// Passes what a caller remembers.
    private func forgetCallers() {
        api.clock.advance(by: .seconds(5))
    }

    private func status(_ token: String) async throws -> Int {
        try await caller(token).status
    }

    private func caller(
        _ token: String, container: String = TestAPI.container, environment: String = "development"
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "GET",
            "/database/1/\(container)/\(environment)/public/users/caller"
                + "?ckAPIToken=\(api.apiToken)&ckWebAuthToken=\(token)",
            headers: ["X-Tidebell-Extensions": "1"]
        )
    }

    private func post(_ path: String, as token: String?, _ body: String) async throws
        -> TestAPI.Answer
    {
        try await api.send(
            "POST",
            "/ext/1/\(TestAPI.container)/development/\(path)?ckAPIToken=\(api.apiToken)"
                + (token.map { "&ckWebAuthToken=\($0)" } ?? ""),
            body
        )
    }

    /// Signs a device in and returns its token: with a token, or with the password.
    private func signIn(with token: String? = nil) async throws -> String {
        let answer = try await post(
            "account/signIn", as: token,
            token == nil ? #"{"user":"me","password":"correct horse"}"# : "{}"
        )
        return try JSONReader.read(Array(answer.text.utf8)) {
            try SignIn.Response(from: &$0).webAuthToken
        }
    }

    /// Fetches the token of a web page.
    private func page(of token: String) async throws -> String {
        let answer = try await post(
            "account/webToken", as: token, #"{"apiToken":"\#(api.apiToken)"}"#
        )
        return try JSONReader.read(Array(answer.text.utf8)) {
            try FetchWebAuthToken.Response(from: &$0).webAuthToken
        }
    }

    // MARK: Ending

    @Test(
        "H3: a session that one server ended is over at another whose clock is behind, and gets no new token"
    )
    func endedByAnotherServer() async throws {
        let node = api.makeNode(ahead: .seconds(-59))
        let token = try await signIn()
        // The next token is due at both.
        api.clock.advance(by: WebTokenRules.signInLifetime / 2 + .seconds(3600))
        #expect(try await api.cloud.accounts.signOut("me") > 0)
        let target = TestAPI.target(
            "public/users/caller", apiToken: api.apiToken, webToken: token)
        for server in [node, api.cloud] {
            let answer = try await api.send("GET", target, to: server)
            #expect(answer.status == 421)
            #expect(answer[header: "X-Apple-CloudKit-Web-Auth-Token"] == nil)
        }
        #expect(try await node.accounts.sessions(of: "me") == [])
    }

    @Test("H3: signing out ends the tokens before and after, and those got with them")
    func chain() async throws {
        let first = try await signIn()
        let other = try await signIn()
        api.clock.advance(by: WebTokenRules.signInLifetime / 2)
        let second = try #require(
            try await caller(first)[header: WireProtocol.webAuthTokenHeader]
        )
        let page = try await page(of: first)
        #expect(try await post("account/signOut", as: second, "{}").status == 200)
        forgetCallers()
        for token in [first, second, page] {
            let answer = try await caller(token)
            #expect(answer.status == 421)
            #expect(answer.error?.detail == nil, "is as good as unknown")
        }
        #expect(try await status(other) == 200)
        #expect(try await status(api.webToken) == 200)
    }

    @Test("H3: a page's sign-out ends the page's token, not the device's")
    func pageSignsOut() async throws {
        let device = try await signIn()
        let page = try await page(of: device)
        #expect(try await post("account/signOut", as: page, "{}").status == 200)
        forgetCallers()
        #expect(try await status(page) == 421)
        #expect(try await status(device) == 200)
    }

    @Test("H3: a new password ends all sessions, or all but the operator's tokens")
    func newPassword() async throws {
        let accounts = api.cloud.accounts
        let devices = [try await signIn(), try await signIn(with: api.webToken)]
        let kept = try await accounts.setPassword(
            "another horse", of: "me", keepsTokens: true, cost: .least
        )
        #expect(kept == 2)
        forgetCallers()
        for token in devices {
            let answer = try await caller(token)
            #expect(answer.status == 421)
            #expect(answer.error?.detail?.ckCode == 36, "is to sign in again")
        }
        #expect(try await status(api.webToken) == 200)
        #expect(try await accounts.setPassword("third horse", of: "me", cost: .least) == 1)
        forgetCallers()
        #expect(try await status(api.webToken) == 421)
    }

    @Test("H3: a disabled user's sessions stay ended when the user is enabled")
    func disabled() async throws {
        let accounts = api.cloud.accounts
        let device = try await signIn()
        #expect(try await accounts.setDisabled(true, "me") == 2)
        forgetCallers()
        #expect(try await caller(device).error?.detail?.ckCode == 32)
        #expect(try await accounts.setDisabled(false, "me") == 0)
        forgetCallers()
        for token in [device, api.webToken] {
            #expect(try await caller(token).error?.detail?.ckCode == 36)
        }
        #expect(try await status(try await signIn()) == 200)
    }

    @Test("H3: a session that ended is not renewed by a request that was under way")
    func noSuccessor() async throws {
        let device = try await signIn()
        api.clock.advance(by: WebTokenRules.signInLifetime / 2)
        #expect(try await api.cloud.accounts.signOut("me") == 2)
        let answer = try await caller(device)
        #expect(answer.status == 421)
        #expect(answer[header: WireProtocol.webAuthTokenHeader] == nil)
    }

    @Test("H3: sessions are listed with their last use, and ended by their ID")
    func listed() async throws {
        let accounts = api.cloud.accounts
        api.clock.advance(by: .seconds(10))
        let device = try await signIn(with: api.webToken)
        api.clock.advance(by: .seconds(10))
        let page = try await page(of: device)
        try await api.cloud.maintenance.storeTokenUses()
        func moment(_ seconds: Int) -> Instant { TestAPI.start.advanced(by: .seconds(seconds)) }
        let sessions = try await accounts.sessions(of: "me")
        #expect(sessions.map(\.origin) == [.operator, .device, .page])
        #expect(
            sessions.map(\.container?.container) == [nil, TestAPI.container, TestAPI.container])
        #expect(sessions.map(\.createdAt) == [moment(0), moment(10), moment(20)])
        #expect(sessions.map(\.usedAt) == [moment(0), moment(20), nil])
        #expect(sessions.allSatisfy { !api.webToken.contains($0.id.rawValue) })
        let ended = try await accounts.signOut("me", session: sessions[1].id.rawValue)
        #expect(ended == 2, "the device's and its page's")
        forgetCallers()
        #expect(try await status(device) == 421)
        #expect(try await status(page) == 421)
        #expect(try await status(api.webToken) == 200)
        #expect(try await accounts.sessions(of: "me").map(\.id) == [sessions[0].id])
        await #expect(throws: OperatorError.self) {
            try await accounts.signOut("me", session: "0000")
        }
        for wait in [1700, 1855] {
            api.clock.advance(by: .seconds(wait))
            #expect(try await status(api.webToken) == 200)
        }
        try await api.cloud.maintenance.storeTokenUses()
        #expect(
            try await accounts.sessions(of: "me").map(\.usedAt) == [moment(0)],
            "to the hour"
        )
        api.clock.advance(by: .seconds(45))
        #expect(try await status(api.webToken) == 200)
        try await api.cloud.maintenance.storeTokenUses()
        #expect(try await accounts.sessions(of: "me").map(\.usedAt) == [moment(3625)])
    }

    @Test("H3: API and management tokens are listed, expire, and are revoked by their ID")
    func revoked() async throws {
        let accounts = api.cloud.accounts
        let token = try await accounts.makeAPIToken(named: "page", lifetime: .seconds(600))
        let target = api.target("public/zones/list").replacing(api.apiToken, with: token)
        #expect(try await api.send("GET", target).status == 200)
        let admin = try await accounts.makeAdminToken(named: "ops")
        let explain = "/admin/1/\(TestAPI.container)/development/push/explain?record=x"
        func asOperator() async throws -> Int {
            try await api.send("GET", explain, headers: ["Authorization": "Bearer \(admin)"])
                .status
        }
        #expect(try await asOperator() != 401)
        try await api.cloud.maintenance.storeTokenUses()
        let listed = try await accounts.tokens(.api)
        #expect(listed.map(\.name).sorted() == ["first run", "page"])
        #expect(listed.allSatisfy { $0.usedAt == TestAPI.start })
        let management = try await accounts.tokens(.management)
        #expect(management.map(\.usedAt) == [TestAPI.start])
        let id = try #require(management.first?.id)
        #expect(!admin.contains(id))
        #expect(try await accounts.revoke(.management, id).name == "ops")
        #expect(try await asOperator() == 401)
        await #expect(throws: OperatorError.self) { try await accounts.revoke(.management, id) }
        await #expect(throws: OperatorError.self) { try await accounts.revoke(.api, "") }
        let page = try #require(listed.first { $0.name == "page" })
        #expect(try await accounts.revoke(.api, String(page.id.prefix(6))).name == "page")
        forgetCallers()
        #expect(try await api.send("GET", target).status == 401)
        let short = try await accounts.makeAPIToken(named: "short", lifetime: .seconds(60))
        let soon = api.target("public/zones/list").replacing(api.apiToken, with: short)
        #expect(try await api.send("GET", soon).status == 200)
        api.clock.advance(by: .seconds(60))
        #expect(try await api.send("GET", soon).status == 401)
    }

    // MARK: Binding

    @Test(
        "H4: a token got in one container is unknown in every other, and in its other environment")
    func bound() async throws {
        let device = try await signIn()
        let page = try await page(of: device)
        let exchanged = try await signIn(with: api.webToken)
        api.clock.advance(by: WebTokenRules.signInLifetime / 2)
        let renewed = try #require(
            try await caller(device)[header: WireProtocol.webAuthTokenHeader]
        )
        let fresh = try await self.page(of: renewed)
        _ = page
        for token in [device, fresh, exchanged, renewed] {
            #expect(try await status(token) == 200)
            for scope in Self.elsewhere {
                let answer = try await caller(
                    token, container: scope.container, environment: scope.environment
                )
                #expect(answer.status == 421)
                #expect(answer.error?.code == .authenticationRequired)
                #expect(answer.error?.detail == nil)
            }
        }
        for scope in Self.elsewhere {
            let answer = try await caller(
                api.webToken, container: scope.container, environment: scope.environment
            )
            #expect(answer.status == 200, "the operator's own is for all")
        }
    }

    @Test("H4: the operator's token can be bound to a container too")
    func boundByOperator() async throws {
        let token = try await api.cloud.accounts.makeWebToken(
            for: "me",
            in: ContainerKey(container: TestAPI.container, environment: .development)
        )
        #expect(try await status(token) == 200)
        for scope in Self.elsewhere {
            let answer = try await caller(
                token, container: scope.container, environment: scope.environment
            )
            #expect(answer.status == 421)
        }
    }

    @Test("A token for a container that no request can name is refused, not made")
    func namelessContainer() async throws {
        let container = ContainerKey(container: "bad_name", environment: .development)
        let accounts = api.cloud.accounts
        let error = OperatorError(
            .invalid, .container, "A container has 1 to 255 letters, digits, '.' and '-'."
        )
        await #expect(throws: error) {
            try await accounts.makeAPIToken(named: "x", for: container)
        }
        await #expect(throws: error) {
            try await accounts.makeWebToken(for: "me", in: container)
        }
    }

    // MARK: Names and passwords

    @Test("A name and a password mean the same however a keyboard writes their letters")
    func spellings() async throws {
        let accounts = api.cloud.accounts
        let (composed, decomposed) = ("Jos\u{E9}", "Jose\u{301}")
        _ = try await accounts.add(named: decomposed)
        #expect(try await accounts.names().map { Array($0.utf8) }.contains(Array(composed.utf8)))
        await #expect(
            throws: OperatorError(.taken, .user, "There is already a user '\(composed)'.")
        ) {
            try await accounts.add(named: composed)
        }
        try await accounts.setPassword("caf\u{E9} olé", of: decomposed, cost: .least)
        for user in [composed, decomposed] {
            for password in ["caf\u{E9} olé", "cafe\u{301} ole\u{301}"] {
                let answer = try await post(
                    "account/signIn", as: nil, #"{"user":"\#(user)","password":"\#(password)"}"#
                )
                #expect(answer.status == 200)
            }
        }
    }

    @Test("A hash of a password that was not in NFC still matches, typed either way")
    func oldHash() throws {
        let old = try Password.hash(
            exactly: "cafe\u{301}-cafe\u{301}", cost: .least, from: .seeded(1)
        )
        #expect(try Password.matches("cafe\u{301}-cafe\u{301}", old))
        #expect(try Password.matches("caf\u{E9}-caf\u{E9}", old))
        #expect(try !Password.matches("cafe-cafe", old))
    }

    @Test(
        "Every name that can be added can sign in",
        arguments: [
            String(repeating: "\u{10400}", count: 64),
            String(repeating: "\u{1100}\u{1161}", count: 64),
            String(repeating: "\u{915}\u{93F}", count: 32),
            "Jose\u{301}",
        ])
    func longNames(name: String) async throws {
        let accounts = api.cloud.accounts
        _ = try await accounts.add(named: name)
        try await accounts.setPassword("correct horse", of: name, cost: .least)
        let answer = try await post(
            "account/signIn", as: nil, #"{"user":"\#(name)","password":"correct horse"}"#
        )
        #expect(answer.status == 200)
    }

    @Test(
        "A name of more than 64 scalars is refused where it is added, with the reason",
        arguments: [
            String(repeating: "\u{10400}", count: 65),
            String(repeating: "\u{915}\u{93F}", count: 50),
        ])
    func tooLongNames(name: String) async throws {
        let error = await #expect(throws: OperatorError.self) {
            try await api.cloud.accounts.add(named: name)
        }
        #expect(error?.code == .invalid)
        #expect(error?.field == .user)
    }
}
