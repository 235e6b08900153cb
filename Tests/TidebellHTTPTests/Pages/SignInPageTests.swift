// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// The page that the `redirectURL` of a 421 leads to (web-services 2.2).
@Suite("The sign-in page", .hangs)
struct SignInPageTests {
    private static let page = "http://localhost:3000"
    private static let container = ContainerKey(
        container: TestAPI.container, environment: .development)

    /// A cloud in which Ben has a password.
    private static func cloud(
        allowsSignUp: Bool = true, signUps: Int = ShareLimits().signUps
    ) async throws -> TestAPI {
        var shares = ShareLimits()
        shares.giveTime(.seconds(600))
        shares.signUps = signUps
        let api = try await TestAPI(shares: shares, allowsSignUp: allowsSignUp)
        _ = try await api.cloud.accounts.add(named: "ben")
        try await api.cloud.accounts.setPassword("correct horse", of: "ben", cost: .least)
        return api
    }

    /// The path of the page, as a 421 names it.
    private static func path(_ api: TestAPI, for token: String) async throws -> String {
        let target =
            "/database/1/\(TestAPI.container)/development/private/zones/list?ckAPIToken=\(token)"
        let answer = try await api.send("GET", target, headers: ["Host": "here"])
        #expect(answer.status == 421)
        let url = try #require(answer.error?.redirectURL)
        #expect(url.hasPrefix("http://here/sign-in?"))
        return String(url.dropFirst("http://here".count))
    }

    private static func token(
        _ api: TestAPI, origins: [String]? = nil, callback: String? = nil
    ) async throws -> String {
        try await api.cloud.accounts.makeAPIToken(
            named: "app", signIn: AppSignIn(origins: origins, callback: callback))
    }

    /// The status of a request with a web token.
    private static func status(_ api: TestAPI, _ webToken: String) async throws -> Int {
        try await api.send(
            "GET", TestAPI.target("private/zones/list", apiToken: api.apiToken, webToken: webToken)
        ).status
    }

    /// The web token that a page tells, and to whom.
    private static func result(
        _ page: TestBrowser.Page
    ) throws -> (token: String, origins: String) {
        let match = try #require(
            page.body.firstMatch(of: /data-token="([0-9a-f]{64,68})" data-origins="([^"]*)"/),
            "\(page.body)")
        return (String(match.1), String(match.2))
    }

    @Test("It tells the page that opened it, under both names, and nobody else (2.2)")
    func message() async throws {
        let api = try await Self.cloud()
        let path = try await Self.path(api, for: api.apiToken)
        try await api.serving { port in
            var browser = TestBrowser(port, at: path + "&origin=\(Self.page)")
            let form = try await browser.open()
            #expect(form.status == 200 && form.heading == "Sign in")
            #expect(form.body.contains("<strong>\(Self.page)</strong> gets access to your data"))
            #expect(form.headers["cross-origin-opener-policy"] == nil)
            #expect(form.headers["content-security-policy"]?.contains("script-src") == false)
            #expect(
                form.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
            let told = try await browser.submit(
                "sign-in", ["user": "ben", "password": "correct horse", "opener": Self.page])
            #expect(told.status == 200 && told.heading == "You are signed in")
            #expect(told.body.contains("{ ckSession: token, ckWebAuthToken: token }"))
            #expect(told.headers["cross-origin-opener-policy"] == nil)
            #expect(
                told.headers["content-security-policy"]?.contains("script-src 'sha256-") == true)
            let result = try Self.result(told)
            #expect(result.origins == Self.page)
            #expect(try await Self.status(api, result.token) == 200)
            // It is good in this container and no other.
            let other = TestAPI.target(
                "private/zones/list", apiToken: api.apiToken, webToken: result.token
            ).replacing(TestAPI.container, with: "iCloud.org.example.other")
            #expect(try await api.send("GET", other).status == 421)
            api.clock.advance(by: .seconds(30 * 60))
            #expect(try await Self.status(api, result.token) == 421)
        }
    }

    @Test("Who wants to stays signed in for two weeks (2.2)")
    func kept() async throws {
        let api = try await Self.cloud()
        let path = try await Self.path(api, for: api.apiToken)
        try await api.serving { port in
            var browser = TestBrowser(port, at: path + "&origin=\(Self.page)")
            let form = try await browser.open()
            #expect(!form.body.contains(" checked"))
            let wrong = try await browser.submit(
                "sign-in", ["user": "ben", "password": "wrong", "opener": Self.page, "keep": "1"])
            #expect(wrong.body.contains(#"name="keep" value="1" checked>"#))
            let told = try await browser.submit(
                "sign-in",
                ["user": "ben", "password": "correct horse", "opener": Self.page, "keep": "1"])
            let token = try Self.result(told).token
            api.clock.advance(by: .seconds(14 * 24 * 3600 - 1))
            #expect(try await Self.status(api, token) == 200)
            api.clock.advance(by: .seconds(6))
            #expect(try await Self.status(api, token) == 421)
        }
    }

    @Test("With a callback URL the browser goes there, with the token under both names (2.2)")
    func callback() async throws {
        let api = try await Self.cloud()
        let token = try await Self.token(api, callback: "https://notes.example/in?x=1")
        let path = try await Self.path(api, for: token)
        try await api.serving { port in
            // No page need have opened it.
            var browser = TestBrowser(port, at: path)
            let form = try await browser.open()
            #expect(
                form.headers["content-security-policy"]?
                    .contains("form-action 'self' https://notes.example;") == true)
            // Whoever mistyped the password is led there by the form that follows.
            let wrong = try await browser.submit("sign-in", ["user": "ben", "password": "no"])
            #expect(wrong.status == 403)
            #expect(
                wrong.headers["content-security-policy"]
                    == form.headers["content-security-policy"])
            let fields = "action=sign-in&token=\(form.token ?? "")&user=ben&password=correct+horse"
            let answer = try await browser.send(
                "POST", fields, headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(answer.status == 303)
            let location = try #require(answer.headers["location"])
            let match = try #require(
                location.wholeMatch(
                    of: #/https://notes\.example/in\?x=1&ckWebAuthToken=(.*)&ckSession=(.*)/#),
                "\(location)")
            #expect(match.1 == match.2)
            #expect(try await Self.status(api, String(match.1)) == 200)
        }
    }

    @Test("A page of an origin that may not learn it is refused, before any password is asked for")
    func origins() async throws {
        let api = try await Self.cloud()
        let (listed, all) = (
            try await Self.token(
                api, origins: ["https://notes.example", "http://here.example:81"]),
            try await Self.token(api, origins: ["*"])
        )
        func status(
            _ token: String, _ origin: String?, referer: String? = nil
        ) async throws -> Int {
            let path = try await Self.path(api, for: token)
            let answer = try await api.send(
                "GET", path + (origin.map { "&origin=\($0)" } ?? ""),
                headers: ["Host": "here"].merging(referer.map { ["Referer": $0] } ?? [:]) { $1 })
            #expect(answer.text.contains("name=\"password\"") == (answer.status == 200))
            return answer.status
        }
        for origin in [
            "http://localhost", "http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1",
            "https://app.localhost", "http://here",
        ] {
            #expect(try await status(api.apiToken, origin) == 200, "\(origin)")
        }
        for origin in [
            "https://evil.example", "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example", "null", "javascript:alert(1)",
        ] {
            #expect(try await status(api.apiToken, origin) == 403, "\(origin)")
        }
        #expect(try await status(api.apiToken, nil) == 403)
        #expect(try await status(api.apiToken, nil, referer: "http://localhost:3000/app?x") == 200)
        #expect(try await status(api.apiToken, nil, referer: "https://evil.example/") == 403)
        #expect(try await status(listed, nil) == 200)
        #expect(try await status(listed, "https://notes.example") == 200)
        #expect(try await status(listed, "http://here.example:81") == 200)
        for origin in ["http://notes.example", "https://notes.example:444", "http://localhost"] {
            #expect(try await status(listed, origin) == 403, "\(origin)")
        }
        #expect(try await status(all, "https://any.example") == 200)
        #expect(try await status(all, nil) == 200)
        // A form cannot widen it.
        let path = try await Self.path(api, for: listed)
        try await api.serving { port in
            var browser = TestBrowser(port, at: path)
            try await browser.open()
            let refused = try await browser.submit(
                "sign-in",
                ["user": "ben", "password": "correct horse", "opener": "https://evil.example"])
            #expect(
                refused.status == 403 && refused.heading == "This site may not ask you to sign in")
        }
    }

    @Test("A visit that names no app of the server finds nothing, whatever it names")
    func noApp() async throws {
        let api = try await Self.cloud()
        let other = try await api.cloud.accounts.makeAPIToken(
            named: "other",
            for: ContainerKey(container: "iCloud.org.example.other", environment: .development))
        let good =
            "container=\(TestAPI.container)&environment=development&origin=http://localhost"
            + "&ckAPIToken="
        for query in [
            "", "?", "?\(good)", "?\(good)unknown", "?\(good)\(other)",
            "?\(good.replacing("development", with: "test"))\(api.apiToken)",
            "?\(good.replacing("iCloud", with: "_"))\(api.apiToken)",
        ] {
            let answer = try await api.send("GET", "/sign-in" + query)
            #expect(answer.status == 404, "\(query)")
            #expect(answer.text.contains("Open this page from an app"))
        }
        #expect(try await api.send("GET", "/sign-in?\(good)\(api.apiToken)").status == 200)
        var limits = Limits()
        limits.knownContainers = [TestAPI.container]
        let strict = try await TestAPI(limits: limits)
        let path = "/sign-in?\(good)\(strict.apiToken)"
        #expect(try await strict.send("GET", path).status == 200)
        let unknown = path.replacing(TestAPI.container, with: "iCloud.org.example.other")
        #expect(try await strict.send("GET", unknown).status == 404)
    }

    @Test("A wrong password, a disabled user and another site's form let nobody in")
    func refused() async throws {
        let api = try await Self.cloud()
        let path = try await Self.path(api, for: api.apiToken) + "&origin=\(Self.page)"
        let good = ["user": "ben", "password": "correct horse", "opener": Self.page]
        try await api.serving { port in
            var browser = TestBrowser(port, at: path)
            try await browser.open()
            let wrong = try await browser.submit("sign-in", good.merging(["password": "no"]) { $1 })
            #expect(wrong.status == 403)
            #expect(wrong.alert == "The user name or the password is wrong.")
            #expect(wrong.body.contains("value=\"ben\"") && !wrong.body.contains("data-token"))
            let form = try await browser.open()
            let foreign: [(fields: [String: String], headers: [String: String])] = [
                (["token": "x"], [:]), ([:], ["Sec-Fetch-Site": "cross-site"]),
                ([:], ["Origin": "https://evil.example"]),
            ]
            for (fields, headers) in foreign {
                browser.page = form
                let answer = try await browser.submit(
                    "sign-in", good.merging(fields) { $1 }, headers: headers)
                #expect(answer.status == 403 && answer.heading == "Nothing was done")
            }
            try await api.cloud.accounts.setDisabled(true, "ben")
            browser.page = form
            let disabled = try await browser.submit("sign-in", good)
            #expect(disabled.alert == "This account was disabled by the operator of the server.")
        }
        #expect(try await api.cloud.accounts.sessions(of: "ben") == [])
    }

    @Test("Where the operator allows it, whoever comes can be a user")
    func signUp() async throws {
        // One is for the name that is taken; what nobody can take is not counted.
        let api = try await Self.cloud(signUps: 2)
        let path = try await Self.path(api, for: api.apiToken) + "&origin=\(Self.page)"
        try await api.serving { port in
            var browser = TestBrowser(port, at: path)
            #expect(try await browser.open().body.contains("mode=sign-up\">Create an account"))
            var newcomer = TestBrowser(port, at: path + "&mode=sign-up")
            #expect(try await newcomer.open().heading == "Create an account")
            for (name, password, status, alert) in [
                ("ben", "correct horse", 409, "There is already a user &#39;ben&#39;."),
                ("c:l", "correct horse", 400, "A user name has 1 to 64 letters"),
                ("carl", "short", 400, "A password has 8 characters or more"),
            ] {
                let answer = try await newcomer.submit(
                    "sign-up", ["user": name, "new": password, "opener": Self.page])
                #expect(answer.status == status)
                #expect(answer.alert?.contains(alert) == true, "\(answer.alert ?? "")")
            }
            let told = try await newcomer.submit(
                "sign-up", ["user": "carl", "new": "battery staple", "opener": Self.page])
            #expect(told.heading == "You are signed in")
            #expect(try await Self.status(api, try Self.result(told).token) == 200)
            try await browser.open()
            let again = try await browser.submit(
                "sign-in", ["user": "carl", "password": "battery staple", "opener": Self.page])
            #expect(again.heading == "You are signed in")
        }
        #expect(try await api.cloud.accounts.names() == ["ben", "carl", Accounts.firstUser])
    }

    @Test("Where the operator does not, nobody can, not even by the form of another server")
    func noSignUp() async throws {
        let api = try await Self.cloud(allowsSignUp: false)
        let path = try await Self.path(api, for: api.apiToken) + "&origin=\(Self.page)"
        try await api.serving { port in
            var browser = TestBrowser(port, at: path + "&mode=sign-up")
            let form = try await browser.open()
            #expect(form.heading == "Sign in" && !form.body.contains("mode=sign-up\""))
            let answer = try await browser.submit(
                "sign-up", ["user": "carl", "new": "battery staple", "opener": Self.page])
            #expect(answer.status == 403)
        }
        #expect(try await api.cloud.accounts.names() == ["ben", Accounts.firstUser])
    }
}
