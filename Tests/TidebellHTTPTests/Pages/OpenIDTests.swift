// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// A provider in this process: what it answers can be changed.
private final class FakeProvider: Sendable {
    static let issuer = "https://id.example/tenant"

    struct State {
        var claims: [String: any Sendable] = [:]
        var head: [String: String] = ["alg": "ES256", "kid": "one"]
        var keys: [[String: String]] = []
        var metadata: [String: String] = [
            "issuer": FakeProvider.issuer,
            "authorization_endpoint": "https://id.example/authorize?tenant=1",
            "token_endpoint": "https://id.example/token", "jwks_uri": "https://id.example/keys",
        ]
        var requests: [ProviderRequest] = []
        /// What the provider signs a token with instead of its own key.
        var signature: (@Sendable (Data) throws -> Data)?
    }

    let state = Mutex(State())
    let key = P256.Signing.PrivateKey()

    init() {
        state.withLock { $0.keys = [Self.jwk(key.publicKey, "one")] }
    }

    static func jwk(_ key: P256.Signing.PublicKey, _ id: String) -> [String: String] {
        let point = Array(key.x963Representation)
        return [
            "kty": "EC", "crv": "P-256", "use": "sig", "kid": id,
            "x": Base64URL.text(Array(point[1..<33])), "y": Base64URL.text(Array(point[33...])),
        ]
    }

    /// Answers as the provider does.
    func answer(_ request: ProviderRequest) throws -> [UInt8] {
        try state.withLock { state in
            state.requests.append(request)
            let object: Any
            switch request.url {
            case Self.issuer + "/.well-known/openid-configuration": object = state.metadata
            case "https://id.example/keys": object = ["keys": state.keys]
            case "https://id.example/token": object = ["id_token": try token(state)]
            default: throw CancellationError()
            }
            return Array(try JSONSerialization.data(withJSONObject: object))
        }
    }

    private func token(_ state: State) throws -> String {
        let parts = try [
            JSONSerialization.data(withJSONObject: state.head),
            JSONSerialization.data(withJSONObject: state.claims),
        ].map { Base64URL.text(Array($0)) }
        let signed = Data(parts.joined(separator: ".").utf8)
        let signature =
            try state.signature?(signed) ?? key.signature(for: signed).rawRepresentation
        return parts.joined(separator: ".") + "." + Base64URL.text(Array(signature))
    }
}

/// Sign-in by a provider (OpenID Connect).
@Suite("Sign-in by an identity provider", .hangs)
struct OpenIDTests {
    private static let page = "http://localhost:3000"

    private static func cloud() async throws -> (api: TestAPI, provider: FakeProvider) {
        var shares = ShareLimits()
        shares.giveTime(.seconds(600))
        let provider = FakeProvider()
        let configuration = OpenIDProvider.Configuration(
            issuer: FakeProvider.issuer, clientID: "tide bell", clientSecret: "s:cret",
            name: "Example <ID>")
        let api = try await TestAPI(
            shares: shares, provider: (configuration, { try provider.answer($0) }))
        return (api, provider)
    }

    /// The path of the sign-in page.
    private static func path(_ api: TestAPI) -> String {
        "/sign-in?container=\(TestAPI.container)&environment=development"
            + "&ckAPIToken=\(api.apiToken)&origin=\(page)"
    }

    /// Where a page leads that sends its browser to the provider.
    private static func parameters(of page: TestBrowser.Page) throws -> [String: String] {
        let match = try #require(
            page.body.firstMatch(of: /content="0;url=([^"]*)"/), "\(page.body)")
        let url = String(match.1).replacing("&amp;", with: "&")
        #expect(url.hasPrefix("https://id.example/authorize?tenant=1&response_type=code&"))
        let items = try #require(URLComponents(string: url)?.queryItems)
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
    }

    /// What a provider says of a sign-in that began so.
    private static func claims(
        _ parameters: [String: String], _ api: TestAPI, subject: String = "4711",
        name: String = "pat"
    ) -> [String: any Sendable] {
        let now = Double(api.clock.instant.rawValue) / 1000
        return [
            "iss": FakeProvider.issuer, "aud": "tide bell", "sub": subject, "iat": now,
            "exp": now + 60, "nonce": parameters["nonce"] ?? "", "preferred_username": name,
        ]
    }

    /// Begins a sign-in, and returns the browser with what it was sent to the provider with.
    private static func begin(
        _ api: TestAPI, _ port: RawConnection.Port
    ) async throws -> (browser: TestBrowser, parameters: [String: String]) {
        var browser = TestBrowser(port, at: path(api))
        let form = try await browser.open()
        #expect(form.body.contains("Sign in with Example &lt;ID&gt;"))
        #expect(form.body.matches(of: /Keep me signed in/).count == 1)
        #expect(form.actions == ["sign-in", "openid"])
        let left = try await browser.submit("openid", ["opener": page])
        #expect(left.status == 200 && left.heading == "Continue to Example &lt;ID&gt;")
        return (browser, try parameters(of: left))
    }

    /// Comes back from the provider.
    private static func comeBack(
        _ browser: TestBrowser, _ query: String
    ) async throws -> TestBrowser.Page {
        var back = TestBrowser(browser.port, at: "/sign-in/callback?\(query)")
        back.cookie = browser.cookie
        return try await back.open()
    }

    @Test("Whoever the provider signs in has an account of their own, the same each time")
    func signIn() async throws {
        let (api, provider) = try await Self.cloud()
        // Somebody has the name that the provider suggests.
        _ = try await api.cloud.accounts.add(named: "pat")
        try await api.serving { port in
            for number in 1...2 {
                let (browser, parameters) = try await Self.begin(api, port)
                #expect(parameters["client_id"] == "tide bell")
                #expect(parameters["redirect_uri"] == "http://here/sign-in/callback")
                #expect(parameters["scope"] == "openid profile email")
                #expect(parameters["code_challenge_method"] == "S256")
                provider.state.withLock { $0.claims = Self.claims(parameters, api) }
                let told = try await Self.comeBack(
                    browser, "code=c%2B\(number)&state=\(parameters["state"] ?? "")")
                #expect(told.heading == "You are signed in", "\(told.body)")
                #expect(told.headers["cross-origin-opener-policy"] == nil)
                #expect(told.body.contains("data-origins=\"\(Self.page)\""))
                let request = try #require(
                    provider.state.withLock { state in state.requests.last { $0.form != nil } })
                let form = String(decoding: request.form ?? [], as: UTF8.self)
                let verifier = try #require(form.firstMatch(of: /code_verifier=([^&]*)/)?.1)
                #expect(
                    Base64URL.text(Array(SHA256.hash(data: Data(verifier.utf8))))
                        == parameters["code_challenge"])
                #expect(
                    form.hasPrefix(
                        "grant_type=authorization_code&code=c%2B\(number)&redirect_uri="
                            + "http%3A%2F%2Fhere%2Fsign-in%2Fcallback&"))
                #expect(
                    request.headers["Authorization"]
                        == "Basic \(Data("tide%20bell:s%3Acret".utf8).base64EncodedString())")
                let token = try #require(
                    told.body.firstMatch(of: /data-token="([0-9a-f]{64,68})"/)?.1)
                let target = TestAPI.target(
                    "private/zones/list", apiToken: api.apiToken, webToken: String(token))
                #expect(try await api.send("GET", target).status == 200)
            }
        }
        #expect(
            try await api.cloud.accounts.names() == [Accounts.firstUser, "pat", "pat-2"].sorted())
        #expect(try await api.cloud.accounts.sessions(of: "pat-2").count == 2)
        #expect(try await api.cloud.accounts.sessions(of: "pat").count == 1)
    }

    @Test("What a browser brings back is good in that browser, for ten minutes")
    func state() async throws {
        let (api, provider) = try await Self.cloud()
        try await api.serving { port in
            let (browser, parameters) = try await Self.begin(api, port)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            let state = parameters["state"] ?? ""
            var other = TestBrowser(port, at: Self.path(api))
            try await other.open()
            for (browser, query) in [
                (other, "code=c&state=\(state)"),
                (TestBrowser(port, at: "/"), "code=c&state=\(state)"),
                (browser, "code=c"), (browser, "code=c&state=\(state)x"),
                (browser, "code=c&state=x.y"),
                (browser, "code=c&state=.\(state)"),
            ] {
                let refused = try await Self.comeBack(browser, query)
                #expect(refused.status == 403 && refused.heading == "Nothing was done")
            }
            let denied = try await Self.comeBack(browser, "error=access_denied&state=\(state)")
            #expect(denied.status == 403 && denied.heading == "You are not signed in")
            #expect(
                provider.state.withLock { state in state.requests.allSatisfy { $0.form == nil } })
            api.clock.advance(by: OpenIDVisit.lifetime)
            let late = try await Self.comeBack(browser, "code=c&state=\(state)")
            #expect(late.status == 403 && late.heading == "Nothing was done")
            let elsewhere = try await api.send("GET", "/sign-in/other?code=c&state=\(state)")
            #expect(elsewhere.status == 404)
        }
        #expect(try await api.cloud.accounts.names() == [Accounts.firstUser])
    }

    /// Signs somebody in on a page that has a cookie of its own, and returns what the provider's answer leads to.
    private static func signIn(
        on path: String, _ api: TestAPI, _ provider: FakeProvider, _ port: RawConnection.Port
    ) async throws -> TestBrowser.Page {
        var browser = TestBrowser(port, at: path)
        let form = try await browser.open()
        #expect(form.body.contains("Sign in with Example &lt;ID&gt;"))
        let left = try await browser.submit("openid")
        #expect(left.status == 200 && left.heading == "Continue to Example &lt;ID&gt;")
        #expect(
            left.headers["set-cookie"]?.hasSuffix(
                "; Path=/sign-in/callback; HttpOnly; SameSite=Lax") == true)
        let parameters = try parameters(of: left)
        // The provider learns nothing of where somebody comes from: the URL of a share is a secret.
        let state = try #require(Base64URL.bytes(parameters["state"] ?? ""))
        #expect(!String(decoding: state, as: UTF8.self).contains(path))
        provider.state.withLock { $0.claims = claims(parameters, api) }
        let query = "code=c&state=\(parameters["state"] ?? "")"
        #expect(try await comeBack(TestBrowser(port, at: "/"), query).heading == "Nothing was done")
        return try await comeBack(browser, query)
    }

    @Test(
        "Whoever has no password opens their account by the provider, and ends their sessions there"
    )
    func account() async throws {
        let (api, provider) = try await Self.cloud()
        try await api.serving { port in
            let back = try await Self.signIn(on: "/account", api, provider, port)
            #expect(back.status == 303 && back.headers["location"] == "/account")
            let cookie = try #require(back.headers["set-cookie"])
            #expect(cookie.hasSuffix("; Path=/account; HttpOnly; SameSite=Lax"))
            let token = try await api.cloud.accounts.makeWebToken(for: "pat")
            var account = TestBrowser(port, at: "/account")
            account.cookie = String(cookie.prefix { $0 != ";" })
            let page = try await account.open()
            #expect(page.heading == "<bdi>pat</bdi>")
            #expect(page.body.contains("Your account has no password"))
            #expect(page.actions == ["end", "end-others", "sign-out"])
            let id = try #require(page.body.firstMatch(of: /name="session" value="([^"]*)"/)?.1)
            try await account.submit("end", ["session": String(id)])
            #expect(account.page?.actions == ["sign-out"])
            let target = TestAPI.target(
                "private/zones/list", apiToken: api.apiToken, webToken: token)
            #expect(try await api.send("GET", target).status == 421)
        }
    }

    @Test("A share and a device can be opened by the provider as well")
    func otherPages() async throws {
        let (api, provider) = try await Self.cloud()
        let begun = try await api.send(
            "POST",
            "/ext/1/\(TestAPI.container)/development/account/deviceCode?ckAPIToken=\(api.apiToken)",
            "{}", headers: ["Host": "here"])
        let code = try #require(begun.text.firstMatch(of: /"userCode":"([A-Z-]*)"/)?.1)
        let device = try #require(begun.text.firstMatch(of: /"deviceCode":"([^"]*)"/)?.1)
        try await api.serving { port in
            let back = try await Self.signIn(on: "/share/abc1", api, provider, port)
            #expect(back.status == 303 && back.headers["location"] == "/share/abc1")
            var share = TestBrowser(port, at: "/share/abc1")
            share.cookie = back.headers["set-cookie"].map { String($0.prefix { $0 != ";" }) }
            #expect(try await share.open().body.contains("<bdi>pat</bdi>"))
            // It is a sign-in to that page.
            var account = TestBrowser(port, at: "/account")
            account.cookie = share.cookie
            #expect(try await account.open().heading == "Sign in to your account")
            let done = try await Self.signIn(
                on: "/device-sign-in?code=\(code)", api, provider, port)
            #expect(done.status == 200 && done.heading == "The device is signed in")
        }
        let answer = try await api.send(
            "POST",
            "/ext/1/\(TestAPI.container)/development/account/deviceToken?ckAPIToken=\(api.apiToken)",
            #"{"deviceCode":"\#(device)"}"#)
        #expect(answer.text.contains(#""user":"pat""#), "\(answer.text)")
    }

    @Test("An API token says by what its users sign in, and nothing else is offered or taken")
    func methods() async throws {
        let (api, provider) = try await Self.cloud()
        _ = try await api.cloud.accounts.add(named: "ben")
        try await api.cloud.accounts.setPassword("correct horse", of: "ben", cost: .least)
        func path(_ methods: Set<AppSignIn.Method>) async throws -> (token: String, path: String) {
            let token = try await api.cloud.accounts.makeAPIToken(
                named: "app", signIn: AppSignIn(methods: methods))
            return (token, Self.path(api).replacing(api.apiToken, with: token))
        }
        let (byPassword, passwordPath) = try await path([.password])
        let (byProvider, providerPath) = try await path([.provider])
        try await api.serving { port in
            var browser = TestBrowser(port, at: passwordPath)
            #expect(try await browser.open().actions == ["sign-in"])
            let forged = try await browser.submit("openid", ["opener": Self.page])
            #expect(forged.status == 403 && forged.heading == "Nothing was done")
            browser = TestBrowser(port, at: providerPath)
            let form = try await browser.open()
            #expect(form.actions == ["openid"])
            #expect(!form.body.contains("type=\"password\""))
            let guessed = try await browser.submit(
                "sign-in", ["user": "ben", "password": "correct horse", "opener": Self.page])
            #expect(guessed.status == 403 && guessed.heading == "Nothing was done")
            try await browser.open()
            let left = try await browser.submit("openid", ["opener": Self.page])
            let parameters = try Self.parameters(of: left)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            let told = try await Self.comeBack(
                browser, "code=c&state=\(parameters["state"] ?? "")")
            #expect(told.heading == "You are signed in")
        }
        // The page is not the only way to a password.
        for (token, status) in [(byPassword, 200), (byProvider, 403)] {
            let answer = try await api.send(
                "POST",
                "/ext/1/\(TestAPI.container)/development/account/signIn?ckAPIToken=\(token)",
                #"{"user":"ben","password":"correct horse"}"#)
            #expect(answer.status == status, "\(answer.text)")
        }
    }

    @Test("Where the provider is the only way and the server has none, the page says so")
    func noProvider() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.makeAPIToken(
            named: "app", signIn: AppSignIn(methods: [.provider]))
        let page = try await api.send("GET", Self.path(api).replacing(api.apiToken, with: token))
        #expect(page.text.contains("<h1>Nobody can sign in here</h1>"))
    }

    @Test("What a browser brings back is good once, however long it is good")
    func once() async throws {
        let (api, provider) = try await Self.cloud()
        try await api.serving { port in
            let (browser, parameters) = try await Self.begin(api, port)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            let query = "code=c&state=\(parameters["state"] ?? "")"
            #expect(try await Self.comeBack(browser, query).heading == "You are signed in")
            let again = try await Self.comeBack(browser, query)
            #expect(again.status == 403 && again.heading == "Nothing was done")
        }
        #expect(try await api.cloud.accounts.sessions(of: "pat").count == 1)
        // It is remembered until it is good by no clock any more, that of another server either.
        func note(after time: Duration) async throws -> Bool {
            let moment = api.clock.instant.advanced(by: time)
            return try await api.cloud.store.write(.store) { transaction in
                _ = try transaction.removeFinishedVisits(endedBy: moment, limit: 9)
                return try FinishedVisits.note([0], at: moment, in: transaction)
            }
        }
        let end = OpenIDVisit.lifetime + OpenIDVisit.skew * 2
        #expect(try await note(after: .zero))
        #expect(try await !note(after: end - .seconds(1)))
        #expect(try await note(after: end))
    }

    @Test(
        "A sign-in may end at another server than where it began, whose clock is a little behind, and once"
    )
    func severalServers() async throws {
        let (api, provider) = try await Self.cloud()
        let transport: ProviderTransport = { try provider.answer($0) }
        let configuration = try #require(api.cloud.webServices.cloud.provider?.configuration)
        let node = api.makeNode(ahead: OpenIDVisit.skew, provider: (configuration, transport))
        let far = api.makeNode(
            ahead: OpenIDVisit.skew + .seconds(1), provider: (configuration, transport))
        try await api.serving {
            $0.time = node.webServices.cloud.time
        } _: { port in
            let (browser, parameters) = try await Self.begin(api, port)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            func comeBack(to server: CloudServices) async throws -> TestAPI.Answer {
                try await api.send(
                    "GET", "/sign-in/callback?code=c&state=\(parameters["state"] ?? "")",
                    headers: ["Host": "here", "Cookie": browser.cookie ?? ""], to: server)
            }
            let back = try await comeBack(to: api.cloud)
            #expect(back.text.contains("<h1>You are signed in</h1>"), "\(back.text)")
            for server in [node, api.cloud] {
                #expect(try await comeBack(to: server).status == 403)
            }
        }
        // A clock that is wrong by more is none that a sign-in could be trusted by.
        try await api.serving {
            $0.time = far.webServices.cloud.time
        } _: { port in
            let (browser, parameters) = try await Self.begin(api, port)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            let back = try await api.send(
                "GET", "/sign-in/callback?code=c&state=\(parameters["state"] ?? "")",
                headers: ["Host": "here", "Cookie": browser.cookie ?? ""], to: api.cloud)
            #expect(back.status == 403)
        }
        #expect(try await api.cloud.accounts.sessions(of: "pat").count == 1)
    }

    @Test(
        "Somebody whom a provider vouched for signs in again after 30 days, however much they were there"
    )
    func longest() async throws {
        let (api, provider) = try await Self.cloud()
        let token = Locked("")
        try await api.serving { port in
            let (browser, parameters) = try await Self.begin(api, port)
            provider.state.withLock { $0.claims = Self.claims(parameters, api) }
            let page = try await Self.comeBack(
                browser, "code=c&state=\(parameters["state"] ?? "")")
            let told = try #require(page.body.firstMatch(of: /data-token="([0-9a-f]{64,68})"/)?.1)
            token.current = String(told)
        }
        #expect(
            try await Self.life(of: token.current, usedEach: .seconds(900), api)
                == WebTokenRules.longestByProvider)
    }

    @Test(
        "A device that a provider signed in asks it again after 30 days, however much it is used, and so does a device that this one signed in"
    )
    func longestOfDevice() async throws {
        let (api, provider) = try await Self.cloud()
        func device(_ what: String, _ body: String, _ query: String = "") async throws -> String {
            try await api.send(
                "POST",
                "/ext/1/\(TestAPI.container)/development/account/\(what)?ckAPIToken=\(api.apiToken)"
                    + query, body, headers: ["Host": "here"]
            ).text
        }
        let begun = try await device("deviceCode", "{}")
        let code = try #require(begun.firstMatch(of: /"userCode":"([A-Z-]*)"/)?.1)
        let secret = try #require(begun.firstMatch(of: /"deviceCode":"([^"]*)"/)?.1)
        try await api.serving { port in
            let done = try await Self.signIn(
                on: "/device-sign-in?code=\(code)", api, provider, port)
            #expect(done.heading == "The device is signed in")
        }
        func token(_ text: String) throws -> String {
            String(try #require(text.firstMatch(of: /"webAuthToken":"([^"]*)"/)?.1, "\(text)"))
        }
        let first = try token(await device("deviceToken", #"{"deviceCode":"\#(secret)"}"#))
        let day = Duration.seconds(24 * 3600)
        api.clock.advance(by: day)
        let second = try token(await device("signIn", "{}", "&ckWebAuthToken=\(first)"))
        #expect(
            try await Self.life(of: second, usedEach: day, api)
                == WebTokenRules.longestByProvider - day)
        let target = TestAPI.target(
            "public/users/caller", apiToken: api.apiToken, webToken: first)
        #expect(try await api.send("GET", target).status == 421)
    }

    /// How long a session goes on whose token is used so often, and renewed whenever that is due.
    private static func life(
        of token: String, usedEach pause: Duration, _ api: TestAPI
    ) async throws -> Duration {
        var (current, life) = (token, Duration.zero)
        while life < WebTokenRules.signInLifetime {
            let answer = try await api.send(
                "GET",
                TestAPI.target("public/users/caller", apiToken: api.apiToken, webToken: current))
            guard answer.status == 200 else {
                #expect(answer.status == 421)
                break
            }
            current = answer[header: "X-Apple-CloudKit-Web-Auth-Token"] ?? current
            api.clock.advance(by: pause)
            life += pause
        }
        return life
    }

    @Test(
        "A removed user whom the provider still knows comes back as a new one, a disabled one does not"
    )
    func removed() async throws {
        let (api, provider) = try await Self.cloud()
        try await api.serving { port in
            var accounts: [AccountID?] = []
            for _ in 1...2 {
                let (browser, parameters) = try await Self.begin(api, port)
                provider.state.withLock { $0.claims = Self.claims(parameters, api) }
                let page = try await Self.comeBack(
                    browser, "code=c&state=\(parameters["state"] ?? "")")
                #expect(page.heading == "You are signed in")
                accounts.append(
                    try await api.cloud.store.read { try $0.signIn(named: "pat")?.account })
                _ = try await api.cloud.accounts.remove(named: "pat", erasing: .none)
            }
            #expect(accounts[0] != nil && accounts[1] != nil && accounts[0] != accounts[1])
        }
    }

    @Test("A token that is not the provider's, for this server and this sign-in, signs nobody in")
    func tokens() async throws {
        let (api, provider) = try await Self.cloud()
        let now = Double(api.clock.instant.rawValue) / 1000
        let changes: [(String, @Sendable (inout FakeProvider.State) -> Void)] = [
            ("issuer", { $0.claims["iss"] = "https://evil.example" }),
            ("audience", { $0.claims["aud"] = "another" }),
            ("party", { $0.claims["azp"] = "another" }),
            ("parties", { $0.claims["aud"] = ["tide bell", "another"] }),
            ("expiry", { $0.claims["exp"] = now - 61 }),
            ("no expiry", { $0.claims["exp"] = nil }),
            ("future", { $0.claims["iat"] = now + 61 }),
            ("not before", { $0.claims["nbf"] = now + 61 }),
            ("nonce", { $0.claims["nonce"] = "another" }),
            ("no nonce", { $0.claims["nonce"] = nil }),
            ("subject", { $0.claims["sub"] = "" }),
            ("long subject", { $0.claims["sub"] = String(repeating: "x", count: 256) }),
            (
                "none",
                {
                    $0.head["alg"] = "none"; $0.signature = { _ in Data() }
                }
            ),
            ("other algorithm", { $0.head["alg"] = "RS256" }),
            (
                "public key as secret",
                { state in
                    state.head["alg"] = "HS256"
                    let secret = SymmetricKey(data: Data((state.keys[0]["x"] ?? "").utf8))
                    state.signature = {
                        Data(HMAC<SHA256>.authenticationCode(for: $0, using: secret))
                    }
                }
            ),
            (
                "another key",
                { state in
                    let key = P256.Signing.PrivateKey()
                    state.signature = { try key.signature(for: $0).rawRepresentation }
                }
            ),
            ("unknown key", { $0.head["kid"] = "two" }),
            ("a key for encryption", { $0.keys[0]["use"] = "enc" }),
            ("critical", { $0.head["crit"] = "x" }),
        ]
        try await api.serving { port in
            for (what, change) in changes {
                // Keys are remembered for a while.
                api.clock.advance(by: OpenIDProvider.memory)
                let (browser, parameters) = try await Self.begin(api, port)
                let before = provider.state.withLock { state in
                    let before = state
                    state.claims = Self.claims(parameters, api)
                    let shift = Double(api.clock.instant.rawValue) / 1000 - now
                    change(&state)
                    for name in ["exp", "iat", "nbf"] where what != "no expiry" {
                        guard let value = state.claims[name] as? Double, value < now + 100 else {
                            continue
                        }
                        state.claims[name] = value + shift
                    }
                    return before
                }
                let refused = try await Self.comeBack(
                    browser, "code=c&state=\(parameters["state"] ?? "")")
                #expect(refused.status == 403, "\(what)")
                #expect(refused.heading == "You are not signed in", "\(what)")
                provider.state.withLock { state in
                    (state.head, state.keys, state.signature) = (before.head, before.keys, nil)
                }
            }
        }
        #expect(try await api.cloud.accounts.names() == [Accounts.firstUser])
    }

    @Test("RSA keys of 2048 bits sign, shorter ones do not; a key that is new is fetched")
    func rsa() async throws {
        let (api, provider) = try await Self.cloud()
        @Sendable func jwk(_ key: _RSA.Signing.PrivateKey, _ id: String) throws -> [String: String]
        {
            let parts = try key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "kid": id, "n": Base64URL.text(Array(parts.modulus)),
                "e": Base64URL.text(Array(parts.publicExponent)),
            ]
        }
        let long = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        try await api.serving { port in
            for (key, id, heading) in [
                (long, "long", "You are signed in"), (short, "short", "You are not signed in"),
            ] {
                let jwk = try jwk(key, id)
                // A key that is not known is asked for, but not all the time.
                api.clock.advance(by: OpenIDProvider.leastPause)
                let (browser, parameters) = try await Self.begin(api, port)
                provider.state.withLock { state in
                    state.claims = Self.claims(parameters, api)
                    state.head = ["alg": "RS256", "kid": id]
                    state.keys.append(jwk)
                    state.signature = {
                        try key.signature(
                            for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5
                        ).rawRepresentation
                    }
                }
                let page = try await Self.comeBack(
                    browser, "code=c&state=\(parameters["state"] ?? "")")
                #expect(page.heading == heading)
            }
        }
    }

    @Test("A provider that says it is another, or leads to where others read along, is not used")
    func discovery() async throws {
        let changes: [(inout FakeProvider.State) -> Void] = [
            { $0.metadata["issuer"] = "https://id.example" },
            { $0.metadata["token_endpoint"] = "http://id.example/token" },
            { $0.metadata["token_endpoint"] = "http://localhost/token" },
            { $0.metadata["authorization_endpoint"] = "javascript:alert(1)" },
            { $0.metadata["jwks_uri"] = nil },
        ]
        for change in changes {
            let (api, provider) = try await Self.cloud()
            provider.state.withLock { change(&$0) }
            try await api.serving { port in
                var browser = TestBrowser(port, at: Self.path(api))
                try await browser.open()
                let refused = try await browser.submit("openid", ["opener": Self.page])
                #expect(refused.status == 403 && refused.heading == "You are not signed in")
            }
        }
        for issuer in [
            "http://id.example", "id.example", "https://id.example?x", "ftp://id.example",
        ] {
            #expect(throws: OperatorError.self) {
                try OpenIDProvider.Configuration(
                    issuer: issuer, clientID: "a", clientSecret: nil, name: "a"
                ).check()
            }
        }
        try OpenIDProvider.Configuration(
            issuer: "http://localhost:1", clientID: "a", clientSecret: nil, name: "a"
        ).check()
    }

    @Test("A disabled user is not let in by the provider either")
    func disabled() async throws {
        let (api, provider) = try await Self.cloud()
        try await api.serving { port in
            for heading in ["You are signed in", "That did not work"] {
                let (browser, parameters) = try await Self.begin(api, port)
                provider.state.withLock { $0.claims = Self.claims(parameters, api) }
                let page = try await Self.comeBack(
                    browser, "code=c&state=\(parameters["state"] ?? "")")
                #expect(page.heading == heading)
                try await api.cloud.accounts.setDisabled(true, "pat")
            }
        }
    }

    @Test("Without a provider nothing leads to one")
    func none() async throws {
        let api = try await TestAPI()
        #expect(try await api.send("GET", Self.path(api)).text.contains("openid") == false)
        #expect(try await api.send("GET", "/sign-in/callback?code=c&state=s").status == 404)
    }
}
