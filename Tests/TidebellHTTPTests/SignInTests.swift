// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

@Suite("Signing in")
struct SignInTests {
    private let api: TestAPI

    init() async throws {
        api = try await TestAPI()
    }

    /// Signs in with a password and returns the new token.
    private func signIn(
        _ user: String, _ password: String, from address: String? = nil
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "POST", anonymous("account/signIn"),
            #"{"user":"\#(user)","password":"\#(password)"}"#,
            from: address.flatMap(PeerAddress.init)
        )
    }

    private func anonymous(_ path: String) -> String {
        api.target(under: "ext", path).replacing("&ckWebAuthToken=\(api.webToken)", with: "")
    }

    private func token(_ answer: TestAPI.Answer) throws -> SignIn.Response {
        try JSONReader.read(Array(answer.text.utf8)) { try SignIn.Response(from: &$0) }
    }

    /// Asks for the caller, with a token.
    private func caller(_ token: String, extended: Bool = true) async throws -> TestAPI.Answer {
        try await api.send(
            "GET", api.target("public/users/caller").replacing(api.webToken, with: token),
            headers: extended ? ["X-Tidebell-Extensions": "1"] : [:]
        )
    }

    @Test("The right password gives a device a web token of its own")
    func password() async throws {
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        let answer = try token(try await signIn("me", "correct horse"))
        #expect(answer.user == "me")
        #expect(answer.userRecordName == api.user)
        #expect(answer.webAuthToken != api.webToken)
        #expect(try await caller(answer.webAuthToken).status == 200)
    }

    @Test("A wrong password, a user without one and an unknown user get the same answer")
    func wrongPassword() async throws {
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        _ = try await api.cloud.accounts.add(named: "ben")
        let expected = WireError(
            .authenticationFailed, "the user name or the password is wrong"
        )
        for (user, password) in [("me", "correct hors"), ("ben", ""), ("nobody", "x")] {
            let answer = try await signIn(user, password)
            #expect(answer.status == 401)
            #expect(answer.error == expected)
        }
    }

    @Test("After ten wrong passwords an address waits a quarter of an hour for the account")
    func attempts() async throws {
        for user in ["me", "ben"] {
            if user == "ben" { _ = try await api.cloud.accounts.add(named: user) }
            try await api.cloud.accounts.setPassword("correct horse", of: user, cost: .least)
        }
        for _ in 0..<SignInAttempts.maximumFailures {
            #expect(try await signIn("me", "wrong", from: "192.0.2.1").status == 401)
        }
        let refused = try await signIn("me", "correct horse", from: "192.0.2.1")
        #expect(refused.status == 429)
        #expect(refused.error?.retryAfter == 900)
        #expect(try await signIn("ben", "correct horse", from: "192.0.2.1").status == 200)
        api.clock.advance(by: SignInAttempts.window)
        #expect(try await signIn("me", "correct horse", from: "192.0.2.1").status == 200)
    }

    @Test("M2: a stranger with wrong passwords does not lock a user out at home, nor elsewhere")
    func nobodyIsLockedOut() async throws {
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        #expect(try await signIn("me", "correct horse", from: "198.51.100.7").status == 200)
        for _ in 0..<SignInAttempts.maximumFailures {
            #expect(try await signIn("me", "wrong", from: "192.0.2.1").status == 401)
        }
        #expect(try await signIn("me", "correct horse", from: "192.0.2.1").status == 429)
        #expect(try await signIn("me", "correct horse", from: "198.51.100.7").status == 200)
        // From a new address it waits a second.
        async let elsewhere = signIn("me", "correct horse", from: "203.0.113.5")
        #expect(await eventually { api.clock.sleeperCount == 1 })
        api.clock.advance(by: SignInAttempts.delay.first)
        #expect(try await elsewhere.status == 200)
    }

    @Test("A web token is exchanged for one of the device, and both work")
    func exchange() async throws {
        let answer = try await api.send("POST", api.target(under: "ext", "account/signIn"), "{}")
        let token = try token(answer)
        #expect(try await caller(token.webAuthToken).status == 200)
        #expect(try await caller(api.webToken).status == 200)
        #expect(try await api.send("POST", anonymous("account/signIn"), "{}").status == 421)
    }

    @Test("SUB-51: signing out ends the token and the device's pushes, within seconds")
    func signOut() async throws {
        let signedIn = try token(
            try await api.send("POST", api.target(under: "ext", "account/signIn"), "{}")
        )
        let target = api.target(under: "ext", "account/signOut")
            .replacing(api.webToken, with: signedIn.webAuthToken)
        #expect(try await api.send("POST", target + "&clientId=phone", "{}").status == 200)
        api.clock.advance(by: .seconds(5))
        #expect(try await caller(signedIn.webAuthToken).status == 421)
        #expect(try await caller(api.webToken).status == 200)
    }

    @Test("In the second half of its life an answer renews the token once, and both work (1.4)")
    func renewal() async throws {
        let first = try token(
            try await api.send("POST", api.target(under: "ext", "account/signIn"), "{}")
        ).webAuthToken
        let name = WireProtocol.webAuthTokenHeader
        #expect(try await caller(first)[header: name] == nil)
        api.clock.advance(by: WebTokenRules.signInLifetime / 2)
        let next = try #require(try await caller(first)[header: name])
        #expect(next != first)
        api.clock.advance(by: .seconds(10))
        #expect(try await caller(first)[header: name] == nil)
        #expect(try await caller(next)[header: name] == nil)
        // The answer may have been lost: later the old one gets it once more.
        api.clock.advance(by: WebTokenRules.signInLifetime / 16)
        #expect(try await caller(first)[header: name] != nil)
        api.clock.advance(by: WebTokenRules.signInLifetime / 2)
        #expect(try await caller(first).status == 421)
        #expect(try await caller(next).status == 200)
    }

    @Test("A token of the command line is not renewed: its days were set")
    func noRenewal() async throws {
        api.clock.advance(by: AddWebToken.lifetime - .seconds(60))
        let answer = try await caller(api.webToken)
        #expect(answer.status == 200)
        #expect(answer[header: WireProtocol.webAuthTokenHeader] == nil)
    }

    @Test(
        "ACCT-4: an expired token is distinguished from others for a year, only for clients of ours"
    )
    func expired() async throws {
        let short = try await api.cloud.accounts.add(named: "short", tokenLifetime: .seconds(60))
        api.clock.advance(by: .seconds(60))
        let answer = try await caller(short)
        #expect(answer.status == 421)
        #expect(answer.error?.detail?.ckCode == 36)
        #expect(answer.error?.redirectURL != nil)
        #expect(try await caller(short, extended: false).error?.detail == nil)
        #expect(try await caller("unknown").error?.detail == nil)
    }

    @Test("ACCT-3: a disabled account is refused everywhere until it is enabled")
    func disabled() async throws {
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        try await api.cloud.accounts.setDisabled(true, "me")
        api.clock.advance(by: .seconds(5))
        let answer = try await caller(api.webToken)
        #expect(answer.status == 421)
        #expect(answer.error?.detail?.ckCode == 32)
        #expect(try await signIn("me", "correct horse").status == 421)
        #expect(try await api.cloud.accounts.users().filter(\.isDisabled).map(\.name) == ["me"])
        try await api.cloud.accounts.setDisabled(false, "me")
        #expect(try await signIn("me", "correct horse").status == 200)
    }

    @Test("ACCT-10: an API token is exchanged for a web token of half an hour")
    func webToken() async throws {
        let target = api.target(under: "ext", "account/webToken")
        let answer = try await api.send("POST", target, #"{"apiToken":"\#(api.apiToken)"}"#)
        let token = try JSONReader.read(Array(answer.text.utf8)) {
            try FetchWebAuthToken.Response(from: &$0)
        }
        #expect(try await caller(token.webAuthToken).status == 200)
        api.clock.advance(by: .seconds(1800))
        #expect(try await caller(token.webAuthToken).status == 421)
        let refused = try await api.send("POST", target, #"{"apiToken":"unknown"}"#)
        #expect(refused.status == 401)
    }

    @Test("ACCT-10: a fetched web token gets no token for a device")
    func noSignInByFetchedToken() async throws {
        let answer = try await api.send(
            "POST", api.target(under: "ext", "account/webToken"),
            #"{"apiToken":"\#(api.apiToken)"}"#
        )
        let fetched = try JSONReader.read(Array(answer.text.utf8)) {
            try FetchWebAuthToken.Response(from: &$0)
        }.webAuthToken
        let target = api.target(under: "ext", "account/signIn")
            .replacing(api.webToken, with: fetched)
        let refused = try await api.send("POST", target, "{}")
        #expect(refused.status == 403)
        #expect(refused.error?.code == .accessDenied)
    }

    @Test("A device that signed in with a dated token is signed in no longer than that day")
    func datedToken() async throws {
        let week = Duration.seconds(7 * 24 * 3600)
        let dated = try await api.cloud.accounts.add(named: "ben", tokenLifetime: week)
        let target = api.target(under: "ext", "account/signIn")
            .replacing(api.webToken, with: dated)
        let first = try token(try await api.send("POST", target, "{}")).webAuthToken
        api.clock.advance(by: .seconds(6 * 24 * 3600))
        let renewed = try await caller(first)
        #expect(renewed.status == 200)
        let next = renewed[header: WireProtocol.webAuthTokenHeader] ?? first
        api.clock.advance(by: .seconds(24 * 3600))
        #expect(try await caller(next).status == 421)
        #expect(try await caller(first).status == 421)
    }

    @Test(
        "A token that was signed out, or whose time is up, gives no other while its caller is remembered",
        arguments: ["account/signIn", "account/webToken"], [true, false]
    )
    func rememberedCaller(path: String, signsOut: Bool) async throws {
        let shown = try await api.cloud.accounts.add(named: "ben", tokenLifetime: .seconds(60))
        func post(_ path: String) async throws -> TestAPI.Answer {
            try await api.send(
                "POST", api.target(under: "ext", path).replacing(api.webToken, with: shown),
                path == "account/webToken" ? #"{"apiToken":"\#(api.apiToken)"}"# : "{}",
                headers: ["X-Tidebell-Extensions": "1"]
            )
        }
        api.clock.advance(by: .seconds(58))
        #expect(try await caller(shown).status == 200)
        if signsOut {
            #expect(try await post("account/signOut").status == 200)
        } else {
            api.clock.advance(by: .seconds(2))
        }
        #expect(try await caller(shown).status == 200, "is remembered")
        let refused = try await post(path)
        #expect(refused.status == 421)
        #expect(refused.error?.code == .authenticationRequired)
        #expect(refused.error?.detail?.ckCode == (signsOut ? nil : 36))
        #expect(refused.error?.redirectURL != nil)
    }

    @Test("ACCT-6: asking for a permission grants it, unless the user decided before")
    func permission() async throws {
        func ask(_ action: String) async throws -> String {
            try await api.send(
                "POST", api.target(under: "ext", "account/permission"),
                #"{"permission":"userDiscoverability","action":"\#(action)"}"#
            ).text
        }
        #expect(try await ask("read") == "{}")
        #expect(try await ask("request") == #"{"answer":"granted"}"#)
        #expect(try await ask("deny") == #"{"answer":"denied"}"#)
        #expect(try await ask("request") == #"{"answer":"denied"}"#)
        #expect(try await ask("read") == #"{"answer":"denied"}"#)
        #expect(try await ask("reset") == "{}")
        #expect(try await ask("request") == #"{"answer":"granted"}"#)
    }

    @Test("A password is stored as a salted scrypt hash, and compared with it")
    func hash() throws {
        let one = try Password.hash("correct horse", cost: .least, from: .seeded(1))
        let two = try Password.hash("correct horse", cost: .least, from: .seeded(2))
        #expect(one != two)
        #expect(one.hasPrefix("scrypt:2:8:1:"))
        #expect(try Password.matches("correct horse", one))
        #expect(try Password.matches("correct horse", two))
        #expect(try !Password.matches("correct horsf", one))
        #expect(throws: WireError.self) { try Password.matches("x", "md5:1") }
    }

    @Test("A password has 8 characters to 1024 bytes, and what can be set signs in")
    func passwordLength() async throws {
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"
        for password in ["1234567", String(repeating: family, count: 60)] {
            let error = OperatorError(
                .invalid, .password,
                "A password has 8 characters or more, and at most 1024 bytes.")
            await #expect(throws: error) {
                try await api.cloud.accounts.setPassword(password, of: "me", cost: .least)
            }
        }
        let long = String(repeating: family, count: 40)
        try await api.cloud.accounts.setPassword(long, of: "me", cost: .least)
        #expect(try await signIn("me", long).status == 200)
    }
}
