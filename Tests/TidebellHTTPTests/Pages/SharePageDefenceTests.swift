// SPDX-License-Identifier: Apache-2.0
import Logging
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// What others try with the page of a share, and with those who visit it.
@Suite("Attacks on the page behind a share's URL", .hangs) struct SharePageDefenceTests {
    @Test("A form that the page did not make for this browser is refused, and nothing is done")
    func foreignForms() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            try await ben.open()
            try await ben.signIn("ben")
            let shown = try #require(ben.page)
            var other = TestBrowser(port, at: path)
            let others = try #require(try await other.open().token)
            // A session of the same person in another browser has other forms.
            var twin = TestBrowser(port, at: path)
            try await twin.open()
            try await twin.signIn("ben")
            let twins = try #require(twin.page?.token)
            let refused: [(token: String?, headers: [String: String])] = [
                ("", [:]), ("wrong", [:]), (others, [:]), (twins, [:]),
                (nil, ["Origin": "https://evil.example"]),
                (nil, ["Origin": "http://here.example"]),
                (nil, ["Sec-Fetch-Site": "cross-site", "Origin": "null"]),
                (nil, ["Sec-Fetch-Site": "same-site"]), (nil, ["Sec-Fetch-Site": "none"]),
                (nil, ["Cookie": "other=1"]), (nil, ["Cookie": "tidebell-page=zz"]),
            ]
            for (token, headers) in refused {
                ben.page = shown
                var attempt = ben
                let answer = try await attempt.submit(
                    "accept", token.map { ["token": $0] } ?? [:], headers: headers)
                #expect(answer.status == 403, "\(headers) \(token ?? "")")
                #expect(answer.heading == "Nothing was done")
            }
            #expect(try await !scene.hasAccepted())
            // Nor is somebody signed in by another site's form.
            var signingIn = TestBrowser(port, at: path)
            try await signingIn.open()
            #expect(
                try await signingIn.submit(
                    "sign-in", ["user": "ben", "password": "correct horse"],
                    headers: ["Origin": "https://evil.example"]
                ).status == 403)
            ben.page = shown
            #expect(
                try await ben.submit("accept", headers: ["Origin": "http://here"]).status == 303)
            #expect(try await scene.hasAccepted())
        }
    }

    @Test(
        "Wrong passwords count as everywhere: the page is no way around the bound, nor the API around the page's"
    )
    func throttled() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var browser = TestBrowser(port, at: path, from: 7)
            try await browser.open()
            for _ in 0..<SignInAttempts.maximumFailures {
                let answer = try await browser.signIn("ben", "wrong")
                #expect(answer.status == 403 && answer.headers["set-cookie"] == nil)
                #expect(answer.alert == "The user name or the password is wrong.")
            }
            let refused = try await browser.signIn("ben")
            #expect(refused.status == 429 && refused.headers["retry-after"] == "900")
            #expect(
                refused.alert
                    == "There were too many attempts to sign in. Try again in 15 minutes.")
            let api = try await scene.api.send(
                "POST",
                "/ext/1/\(TestAPI.container)/development/account/signIn?ckAPIToken=\(scene.api.apiToken)",
                #"{"user":"ben","password":"correct horse"}"#, from: PeerAddress("127.0.0.7"))
            #expect(api.status == 429)
            scene.api.clock.advance(by: SignInAttempts.window)
            #expect(try await browser.signIn("ben").status == 303)
        }
    }

    @Test(
        "A session ends with its time, a new password, a disabled or removed account; then nothing is accepted",
        arguments: ["time", "password", "disabled", "removed", "operator"])
    func ended(by cause: String) async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        let accounts = scene.api.cloud.accounts
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            try await ben.open()
            try await ben.signIn("ben")
            #expect(ben.page?.actions == ["accept", "sign-out"])
            switch cause {
            case "time": scene.api.clock.advance(by: PageSession.lifetime)
            case "password":
                try await accounts.setPassword("battery staple", of: "ben", cost: .least)
            case "disabled": try await accounts.setDisabled(true, "ben")
            case "removed": _ = try await accounts.remove(named: "ben")
            default: _ = try await accounts.signOut("ben")
            }
            let answer = try await ben.submit("accept")
            #expect(answer.status == 200 && answer.actions == ["sign-in"])
            #expect(try await !scene.hasAccepted())
            #expect(try await ben.open().actions == ["sign-in"])
            guard cause == "disabled" else { return }
            let refused = try await ben.signIn("ben")
            #expect(refused.status == 403)
            #expect(refused.alert == "This account was disabled by the operator of the server.")
        }
    }

    @Test(
        "A page's cookie is no web token, a web token no cookie, and one page's is none of another's"
    )
    func cookies() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            try await ben.open()
            try await ben.signIn("ben")
            let secret = try #require(ben.cookie?.split(separator: "=").last)
            let caller = try await scene.api.send(
                "GET",
                TestAPI.target(
                    "public/users/caller", apiToken: scene.api.apiToken, webToken: String(secret)))
            #expect(caller.status == 421)
            var thief = TestBrowser(port, at: path)
            thief.cookie = "tidebell-page=\(scene.api.webToken)"
            #expect(try await thief.open().actions == ["sign-in"])
            // The session is as good at another page, to which browsers do not send it; its forms
            // are others.
            var elsewhere = TestBrowser(port, at: "/share/AAAAAAAAAAAAAAAAAAAAAA")
            elsewhere.cookie = ben.cookie
            let page = try await elsewhere.open()
            #expect(page.status == 404 && page.token != ben.page?.token)
        }
    }

    @Test("What is no form is refused, and a long one before it is read whole")
    func badForms() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var browser = TestBrowser(port, at: path)
            try await browser.open()
            let form = "application/x-www-form-urlencoded"
            for (type, body, reason) in [
                ("application/json", "{}", "a page takes the forms it has, and nothing else"),
                (form, "a=%zz", "a field of the form is not properly percent-encoded"),
                (
                    form, Array(repeating: "a=b", count: 17).joined(separator: "&"),
                    "a form has at most 16 fields"
                ),
                (
                    form, String(repeating: "a", count: PageForm.mostBytes + 1),
                    "the request body is longer than \(PageForm.mostBytes) bytes (requestBytes)"
                ),
            ] {
                let answer = try await browser.send("POST", body, headers: ["Content-Type": type])
                #expect(answer.status == (reason.contains("is longer") ? 413 : 400))
                #expect(answer.body.contains(reason), "\(answer.body)")
            }
            let put = try await browser.send("PUT", "")
            #expect(put.status == 405 && put.headers["allow"] == "GET, HEAD, POST")
            let head = try await browser.send("HEAD")
            #expect(head.status == 200 && head.body.isEmpty)
            for nowhere in ["/share/a~b", "/share/" + String(repeating: "a", count: 68)] {
                var lost = TestBrowser(port, at: nowhere)
                let answer = try await lost.open()
                #expect(answer.status == 404 && answer.heading == "This is not the link of a share")
            }
        }
    }

    @Test("The log has no URL of a share")
    func log() async throws {
        let api = try await TestAPI(logLevel: .debug)
        _ = try await api.send("GET", "/share/AAAAAAAAAAAAAAAAAAAAAA")
        #expect(!api.log.entries.isEmpty && !"\(api.log.entries)".contains("AAAAAA"))
    }
}

@Suite("Links to the apps that shares are opened in") struct ShareAppLinkTests {
    @Test(
        "A link names its app and where the share's URL goes",
        arguments: [
            ("notes://share?url={url}", nil),
            ("https://app.example/#/shares/{url}", nil),
            ("javascript:alert({url})", "a link to an app does not begin with 'javascript:'"),
            ("DATA:text/html,{url}", "a link to an app does not begin with 'DATA:'"),
            ("notes://share", "'notes://share' must have {url} once, where the share's URL goes"),
            (
                "notes://{url}/{url}",
                "'notes://{url}/{url}' must have {url} once, where the share's URL goes"
            ),
            ("{url}", "'{url}' is not a URL of at most 2048 bytes"),
            ("notes://a b{url}", "'notes://a b{url}' is not a URL of at most 2048 bytes"),
            ("1notes://{url}", "'1notes://{url}' is not a URL of at most 2048 bytes"),
        ] as [(String, String?)])
    func rules(link: String, problem: String?) throws {
        var links = ShareAppLinks()
        do {
            try links.set(link, for: "iCloud.org.example.notes")
            #expect(problem == nil)
        } catch let error as WrongShareAppLink {
            #expect(error.description == problem)
        }
    }

    @Test("A share's URL is one parameter of the link, in the app's container only")
    func url() throws {
        var links = ShareAppLinks()
        try links.set("notes://share?url={url}&x=1", for: "iCloud.org.example.notes")
        #expect(throws: WrongShareAppLink.self) { try links.set("notes://{url}", for: "a b") }
        let url = "https://cloud.example/share/a-b_c"
        for (container, link) in [
            (
                "iCloud.org.example.notes",
                "notes://share?url=https%3A%2F%2Fcloud.example%2Fshare%2Fa-b_c&x=1"
            ),
            ("iCloud.org.example.other", nil),
        ] as [(String, String?)] {
            let key = ContainerKey(container: container, environment: .production)
            #expect(links.link(toShareAt: url, in: key) == link)
        }
    }
}
