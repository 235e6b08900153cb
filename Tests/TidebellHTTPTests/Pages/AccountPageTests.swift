// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// The pages on which users look after their account.
@Suite("The pages of an account", .hangs)
struct AccountPageTests {
    private static func cloud() async throws -> TestAPI {
        var shares = ShareLimits()
        shares.giveTime(.seconds(600))
        let api = try await TestAPI(shares: shares)
        let accounts = api.cloud.accounts
        for name in ["ben", "carl"] {
            _ = try await accounts.add(named: name)
            try await accounts.setPassword("correct horse", of: name, cost: .least)
        }
        return api
    }

    /// The IDs of the sessions that a page can end.
    private static func ids(_ page: TestBrowser.Page?) -> [String] {
        page?.body.matches(of: /name="session" value="([^"]*)"/).map { String($0.1) } ?? []
    }

    @Test("Users see where they are signed in, and end it: one, or all others")
    func sessions() async throws {
        let api = try await Self.cloud()
        let accounts = api.cloud.accounts
        let others = try await accounts.makeWebToken(for: "carl")
        try await api.serving { port in
            var browser = TestBrowser(port, at: "/account")
            #expect(try await browser.open().heading == "Sign in to your account")
            let wrong = try await browser.signIn("ben", "no")
            #expect(wrong.status == 403)
            #expect(wrong.alert == "The user name or the password is wrong.")
            #expect(try await browser.signIn("ben").status == 303)
            #expect(browser.page?.heading == "<bdi>ben</bdi>")
            #expect(Self.ids(browser.page) == [])
            let tokens = [
                try await accounts.makeWebToken(for: "ben"),
                try await accounts.makeWebToken(for: "ben"),
                try await accounts.makeWebToken(for: "ben"),
            ]
            try await browser.open()
            let ids = Self.ids(browser.page)
            #expect(Set(ids) == Set(tokens.map(Accounts.id(ofToken:))))
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for token in tokens + [others] {
                    let target = TestAPI.target(
                        "private/zones/list", apiToken: api.apiToken, webToken: token)
                    statuses.append(try await api.send("GET", target).status)
                }
                api.clock.advance(by: .seconds(5))
                return statuses
            }
            #expect(try await statuses() == [200, 200, 200, 200])
            try await browser.submit("end", ["session": Accounts.id(ofToken: tokens[0])])
            #expect(try await statuses() == [421, 200, 200, 200])
            // Another's is none of theirs.
            try await browser.submit("end", ["session": Accounts.id(ofToken: others)])
            #expect(try await statuses() == [421, 200, 200, 200])
            try await browser.submit("end-others")
            #expect(try await statuses() == [421, 421, 421, 200])
            #expect(browser.page?.heading == "<bdi>ben</bdi>")
            #expect(try await browser.submit("sign-out").status == 303)
            #expect(browser.page?.heading == "Sign in to your account")
            #expect(try await accounts.sessions(of: "ben") == [])
        }
    }

    @Test("A form of another site, and of another's browser, ends nothing")
    func foreignForms() async throws {
        let api = try await Self.cloud()
        _ = try await api.cloud.accounts.makeWebToken(for: "ben")
        try await api.serving { port in
            var browser = TestBrowser(port, at: "/account")
            try await browser.open()
            try await browser.signIn("ben")
            let page = try #require(browser.page)
            let foreign: [(fields: [String: String], headers: [String: String])] = [
                (["token": "x"], [:]), ([:], ["Sec-Fetch-Site": "same-site"]),
                ([:], ["Origin": "https://evil.example"]), ([:], ["Cookie": "other=1"]),
            ]
            for (fields, headers) in foreign {
                browser.page = page
                var attempt = browser
                let answer = try await attempt.submit("end-others", fields, headers: headers)
                #expect(answer.status == 403)
            }
            #expect(try await api.cloud.accounts.sessions(of: "ben").count == 2)
        }
    }

    @Test(
        "Of cookies of one page that differ none is taken: another page of the host may have put one there"
    )
    func severalCookies() {
        func secret(_ cookies: String) -> String? {
            let request = WebRequest(.get, "/account", headers: [.cookie: cookies])
            return PageCookie(of: request, path: "/account", key: [1]).secret
        }
        let own = String(repeating: "aa", count: 32)
        let planted = String(repeating: "bb", count: 32)
        #expect(secret("a=b; tidebell-page=\(own)") == own)
        #expect(secret("tidebell-page=\(own); tidebell-page=\(own)") == own)
        #expect(secret("tidebell-page=\(own); tidebell-page=\(planted)") == nil)
    }

    @Test("A new password needs the one before, and ends all sessions and tokens")
    func password() async throws {
        let api = try await Self.cloud()
        let accounts = api.cloud.accounts
        try await api.serving { port in
            var browser = TestBrowser(port, at: "/account")
            try await browser.open()
            try await browser.signIn("ben")
            _ = try await accounts.makeWebToken(for: "ben")
            let page = browser.page
            let wrong = try await browser.submit(
                "password", ["password": "no", "new": "battery staple"])
            #expect(wrong.alert == "The user name or the password is wrong.")
            browser.page = page
            let short = try await browser.submit(
                "password", ["password": "correct horse", "new": "short"])
            #expect(short.alert?.contains("A password has 8 characters or more") == true)
            #expect(try await accounts.sessions(of: "ben").count == 2)
            browser.page = page
            let done = try await browser.submit(
                "password", ["password": "correct horse", "new": "battery staple"])
            #expect(done.status == 303)
            #expect(try await accounts.sessions(of: "ben") == [])
            #expect(browser.page?.heading == "Sign in to your account")
            #expect(try await browser.signIn("ben").status == 403)
            #expect(try await browser.signIn("ben", "battery staple").status == 303)
        }
    }

    @Test("A link of the operator's sets a new password once, and is good for a day")
    func resetLink() async throws {
        let api = try await Self.cloud()
        let accounts = api.cloud.accounts
        let token = try await accounts.makeWebToken(for: "ben")
        let before = try await accounts.makeResetLink(for: "ben")
        let link = try await accounts.makeResetLink(for: "ben")
        #expect(try await api.send("GET", before).status == 404)
        // It is no token.
        let secret = try #require(link.split(separator: "/").last)
        for text in [String(secret), "reset%20\(secret)"] {
            let target = TestAPI.target(
                "private/zones/list", apiToken: api.apiToken, webToken: text)
            #expect(try await api.send("GET", target).status == 421)
        }
        try await api.serving { port in
            var browser = TestBrowser(port, at: link)
            let form = try await browser.open()
            #expect(form.heading == "Set a new password" && form.body.contains("<bdi>ben</bdi>"))
            let short = try await browser.submit("set", ["new": "short"])
            #expect(short.status == 400)
            #expect(short.alert?.contains("A password has 8 characters or more") == true)
            let done = try await browser.submit("set", ["new": "battery staple"])
            #expect(done.status == 200 && done.heading == "The password is set")
            #expect(try await browser.open().status == 404)
            #expect(try await accounts.sessions(of: "ben") == [])
            let target = TestAPI.target(
                "private/zones/list", apiToken: api.apiToken, webToken: token)
            #expect(try await api.send("GET", target).status == 421)
            var account = TestBrowser(port, at: "/account")
            try await account.open()
            #expect(try await account.signIn("ben").status == 403)
            #expect(try await account.signIn("ben", "battery staple").status == 303)
        }
        let late = try await accounts.makeResetLink(for: "carl")
        #expect(try await api.send("GET", late).status == 200)
        api.clock.advance(by: MakeResetLink.lifetime)
        #expect(try await api.send("GET", late).status == 404)
        #expect(try await api.send("GET", "/reset/").status == 404)
    }
}
