// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

@Suite("The page behind a share's URL", .hangs) struct SharePageTests {
    @Test(
        "SHARE-16: a person opens a share's URL, signs in, sees what is shared, accepts it and signs out"
    )
    func story() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            let first = try await ben.open()
            #expect(first.status == 200 && first.heading == "Sign in to see what is shared")
            #expect(first.actions == ["sign-in"] && !first.body.contains("Groceries"))
            let signedIn = try await ben.signIn("ben")
            #expect(signedIn.status == 303 && signedIn.body.isEmpty)
            let shown = try #require(ben.page)
            #expect(shown.status == 200 && shown.heading == "<bdi>Groceries</bdi>")
            #expect(shown.actions == ["accept", "sign-out"])
            #expect(
                shown.body.contains("<dt>From</dt><dd>Another user, who is not shown by name</dd>"))
            #expect(
                shown.body.contains(
                    "<dt>App</dt><dd>\(TestAPI.container) (development)</dd>"))
            #expect(shown.body.contains("<dt>What</dt><dd>An item with everything below it</dd>"))
            #expect(shown.body.contains("<dt>You may</dt><dd>View and change it</dd>"))
            #expect(try await !scene.hasAccepted())

            #expect(try await ben.submit("accept").status == 303)
            #expect(try await scene.hasAccepted())
            let accepted = try #require(ben.page)
            #expect(accepted.body.contains(#"<p class="above">You take part</p>"#))
            #expect(accepted.body.contains("signed in as <bdi>ben</bdi>"))
            #expect(accepted.actions == ["sign-out"])

            #expect(try await ben.submit("sign-out").status == 303)
            #expect(ben.page?.actions == ["sign-in"])
        }
        let sessions = try await scene.api.cloud.accounts.sessions(of: "ben")
        #expect(sessions.map(\.origin) == [.operator])
    }

    @Test("Every page keeps out what could run, frame or keep it, or tell where somebody came from")
    func headers() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            var pages = [try await ben.open()]
            pages.append(try await ben.signIn("ben"))
            pages.append(try #require(ben.page))
            pages.append(try await ben.submit("accept", ["token": "wrong"]))
            pages.append(try await ben.send("PUT", ""))
            pages.append(try await ben.send("OPTIONS", headers: ["Origin": "https://a.example"]))
            var nowhere = TestBrowser(port, at: "/share/not~a~link")
            pages.append(try await nowhere.open())
            #expect(pages.map(\.status) == [200, 303, 200, 403, 405, 405, 404])
            for page in pages {
                let hash = try #require(
                    page.headers["content-security-policy"]?.firstMatch(of: /sha256-[^']+/))
                #expect(
                    page.headers["content-security-policy"]
                        == "default-src 'none'; style-src '\(hash.0)'; form-action 'self'; "
                        + "base-uri 'none'; frame-ancestors 'none'")
                for (name, value) in [
                    ("referrer-policy", "no-referrer"), ("cache-control", "no-store"),
                    ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
                    ("cross-origin-opener-policy", "same-origin"),
                    ("cross-origin-resource-policy", "same-origin"), ("x-robots-tag", "noindex"),
                ] { #expect(page.headers[name] == value, "\(name) of \(page.status)") }
                #expect(!page.headers.keys.contains { $0.hasPrefix("access-control") })
                #expect(!page.body.contains("<script") && !page.body.contains("style="))
                let type = page.body.isEmpty ? nil : "text/html; charset=utf-8"
                #expect(page.headers["content-type"] == type, "\(page.status)")
            }
            let cookies = pages.compactMap { $0.headers["set-cookie"] }
            #expect(cookies.count == 2, "the first page's and the session's")
            for cookie in cookies {
                #expect(
                    cookie.replacing(/[0-9a-f]{64,68}/, with: "X")
                        == "tidebell-page=X; Path=\(path); HttpOnly; SameSite=Lax")
            }
            #expect(cookies[0] != cookies[1])
        }
    }

    @Test("SHARE-19: a wrong URL and one of a share that is closed look the same, signed in or not")
    func closed() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        let guid = path.dropFirst("/share/".count)
        let wrong = "/share/" + (guid.hasPrefix("A") ? "B" : "A") + guid.dropFirst()
        try await scene.api.serving { port in
            var pages: [[TestBrowser.Page]] = []
            for path in [path, wrong] {
                var carl = TestBrowser(port, at: path)
                var seen = [try await carl.open()]
                try await carl.signIn("carl", "wrong")
                seen.append(try #require(carl.page))
                try await carl.signIn("carl")
                seen.append(try #require(carl.page))
                seen.append(try await carl.submit("accept"))
                pages.append(seen)
            }
            #expect(pages[0].map(\.status) == [200, 403, 404, 404])
            #expect(pages[0].map(\.common) == pages[1].map(\.common))
            #expect(pages[0].map(\.status) == pages[1].map(\.status))
            #expect(pages[0][2].heading == "This link leads to nothing that is shared with you")
        }
        #expect(try await !scene.hasAccepted("carl"))
    }

    @Test(
        "A title is text, whatever is in it, and so is an address",
        arguments: [
            ("</h1><script>alert(1)</script>", "&lt;/h1&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
            (
                "\" onload='x' &amp; \u{7}\u{9B}",
                "&quot; onload=&#39;x&#39; &amp;amp; \u{FFFD}\u{FFFD}"
            ),
            (String(repeating: "ü", count: 200), String(repeating: "ü", count: 148) + "..."),
            (" \n\t ", nil),
        ] as [(String, String?)])
    func hostileTitles(title: String, shown: String?) async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share(title: title)
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            try await ben.open()
            try await ben.signIn("ben")
            let heading = shown.map { "<bdi>\($0)</bdi>" } ?? "Something without a title"
            #expect(ben.page?.heading == heading)
        }
    }

    @Test("Texts are escaped where they are put into HTML, and pieces of it are not")
    func escaping() {
        let hostile = "<a b=\"c\" d='e'>&\0"
        let piece: HTML = "<p title=\"\(hostile)\">\(hostile)</p>"
        let escaped = "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{FFFD}"
        #expect(
            piece
                == "<p title=\"\(HTML(stringLiteral: escaped))\">\(HTML(stringLiteral: escaped))</p>"
        )
        let none: HTML? = nil
        let outer: HTML = "<main>\(piece)\(none)</main>"
        #expect(outer.text == "<main>\(piece.text)</main>")
    }

    @Test("ACCT-6: the owner is shown by an address where they permit to be found")
    func owner() async throws {
        let scene = try await SharePageScene()
        _ = try await scene.api.cloud.accounts.addAddress("anna@example.org", of: "me")
        let answer = try await scene.api.send(
            "POST", scene.api.target(under: "ext", "account/permission"),
            #"{"permission":"userDiscoverability","action":"grant"}"#)
        #expect(answer.status == 200)
        let path = try await scene.share()
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: path)
            try await ben.open()
            try await ben.signIn("ben")
            #expect(
                ben.page?.body.contains("<dt>From</dt><dd><bdi>anna@example.org</bdi></dd>") == true
            )
        }
    }

    @Test(
        "SHARE-7, ACCT-5: whoever has the URL of an open share joins it, also who never used the app"
    )
    func publicShare() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share(with: "", open: "READ_ONLY")
        _ = try await scene.api.cloud.accounts.add(named: "dora")
        try await scene.api.cloud.accounts.setPassword("correct horse", of: "dora", cost: .least)
        try await scene.api.serving { port in
            var dora = TestBrowser(port, at: path)
            #expect(try await dora.open().actions == ["sign-in"])
            try await dora.signIn("dora")
            #expect(dora.page?.body.contains("<dd>View it</dd>") == true)
            try await dora.submit("accept")
            #expect(dora.page?.body.contains("You take part") == true)
        }
        #expect(try await scene.hasAccepted("dora"))
    }

    @Test(
        "SHARE-20: a one-time URL leads whoever accepts by it first to what is shared, and nobody else"
    )
    func oneTimeURL() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share(with: "")
        let once = #"{"usesOneTimeURL":true,"permission":"READ_ONLY"}"#
        let url = try #require(try await scene.change(once).first)
        try await scene.api.serving { port in
            // By the share's own URL nobody comes in.
            var carl = TestBrowser(port, at: path)
            try await carl.open()
            try await carl.signIn("carl")
            #expect(carl.page?.status == 404)
            // Both have it open; who accepts first takes part.
            var ben = TestBrowser(port, at: url)
            #expect(try await ben.open().actions == ["sign-in"])
            try await ben.signIn("ben")
            #expect(ben.page?.actions == ["accept", "sign-out"])
            #expect(ben.page?.body.contains("<dd>View it</dd>") == true)
            var late = TestBrowser(port, at: url)
            try await late.open()
            try await late.signIn("carl")
            #expect(late.page?.actions == ["accept", "sign-out"])
            try await ben.submit("accept")
            #expect(ben.page?.body.contains("You take part") == true)
            #expect(try await late.submit("accept").status == 404)
            #expect(try await late.open().status == 404)
            // To whom it belongs now it leads on.
            #expect(try await ben.open().body.contains("You take part"))
        }
        #expect(try await scene.hasAccepted())
        #expect(try await !scene.hasAccepted("carl"))
    }

    @Test("SHARE-20: a one-time URL that is taken back leads nowhere, also where its page is open")
    func oneTimeURLTakenBack() async throws {
        let scene = try await SharePageScene()
        _ = try await scene.share(with: "")
        let once = #"{"usesOneTimeURL":true,"permission":"READ_WRITE"}"#
        let urls = try await scene.change("\(once),\(once)")
        #expect(Set(urls).count == 2)
        try await scene.api.serving { port in
            var ben = TestBrowser(port, at: urls[0])
            try await ben.open()
            try await ben.signIn("ben")
            try await ben.submit("accept")
            #expect(ben.page?.body.contains("You take part") == true)
            var carl = TestBrowser(port, at: urls[1])
            try await carl.open()
            try await carl.signIn("carl")
            #expect(carl.page?.actions == ["accept", "sign-out"])
            #expect(try await scene.change("") == [])
            #expect(try await carl.submit("accept").status == 404)
            #expect(try await carl.open().status == 404)
            // Nor does one that was used lead its user back.
            #expect(try await ben.open().status == 404)
        }
        for user in ["ben", "carl"] { #expect(try await !scene.hasAccepted(user)) }
    }

    @Test("SHARE-19: who may be invited by an address that no account has is told so")
    func unknownAddress() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share(
            with: #"{"userIdentity":{"lookupInfo":{"emailAddress":"x@example.org"}}}"#)
        try await scene.api.serving { port in
            var carl = TestBrowser(port, at: path)
            try await carl.open()
            try await carl.signIn("carl")
            #expect(carl.page?.status == 403)
            #expect(carl.page?.heading == "This was sent to an address that no account has")
            _ = try await scene.api.cloud.accounts.addAddress("x@example.org", of: "carl")
            #expect(try await carl.open().actions == ["accept", "sign-out"])
        }
    }

    @Test("The owner sees that it is theirs")
    func own() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        try await scene.api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        try await scene.api.serving { port in
            var me = TestBrowser(port, at: path)
            try await me.open()
            try await me.signIn("me")
            #expect(me.page?.body.contains(#"<p class="above">You share this</p>"#) == true)
            #expect(me.page?.actions == ["sign-out"])
        }
    }

    @Test("The page leads into the app, where the operator said how")
    func app() async throws {
        let scene = try await SharePageScene()
        let path = try await scene.share()
        var apps = ShareAppLinks()
        try apps.set("notes://share?a=b&url={url}", for: TestAPI.container)
        try await scene.api.serving(publicURL: "https://cloud.example/tide", shareApps: apps) {
            port in
            var ben = TestBrowser(port, at: path)
            let first = try await ben.open()
            #expect(!first.body.contains("notes:"))
            #expect(
                first.headers["set-cookie"]?.replacing(/[0-9a-f]{64,68}/, with: "X")
                    == "tidebell-page=X; Path=/tide\(path); HttpOnly; SameSite=Lax; Secure")
            // The proxy takes the prefix away.
            let signedIn = try await ben.send(
                "POST",
                "token=\(try #require(first.token))&action=sign-in&user=ben&password=correct+horse",
                headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(signedIn.status == 303 && signedIn.headers["location"] == "/tide\(path)")
            let guid = path.dropFirst("/share/".count)
            #expect(
                try await ben.open().body.contains(
                    #"<a class="button second" href="notes://share?a=b&amp;url="#
                        + "https%3A%2F%2Fcloud.example%2Ftide%2Fshare%2F\(guid)\" "
                        + #"rel="noreferrer">Open in the app</a>"#))
        }
    }
}
