// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellCore

@Suite("How users of an app sign in")
struct AppSignInTests {
    @Test("An origin is scheme, host and port as browsers write them")
    func origins() {
        for (url, origin) in [
            ("https://notes.example", "https://notes.example"),
            ("HTTPS://Notes.Example:443/a?b#c", "https://notes.example"),
            ("http://here:80", "http://here"), ("http://here:8080/", "http://here:8080"),
            ("http://[::1]:3000/x", "http://[::1]:3000"), ("http://[::1]", "http://[::1]"),
            ("http://here:443", "http://here:443"),
        ] {
            #expect(AppSignIn.origin(of: url) == origin, "\(url)")
        }
        for url in [
            "", "here", "http://", "http:///x", "ftp://here", "javascript:alert(1)", "null",
            "http://user@here", "http://here:0", "http://here:65536", "http://here:080",
            "http://here:", "http://[::1].a", "http://[::1", "http://a b", "http://here;x",
            "http://'", "http:/here",
        ] {
            #expect(AppSignIn.origin(of: url) == nil, "\(url)")
        }
    }

    @Test("Origins and a callback URL are what they say, or are refused")
    func checks() throws {
        for origins in [["*"], ["https://a.example", "http://localhost:1"], nil] {
            try AppSignIn(origins: origins).check()
        }
        for origins in [
            [], ["*", "https://a.example"], ["https://a.example/"], ["https://A.example"],
            ["a.example"], Array(repeating: "https://a.example", count: AppSignIn.mostOrigins + 1),
        ] {
            #expect(throws: OperatorError.self) { try AppSignIn(origins: origins).check() }
        }
        #expect(throws: OperatorError.self) { try AppSignIn(methods: []).check() }
        for callback in ["https://a.example/in?x=1", "http://localhost:1", "notes://in"] {
            try AppSignIn(callback: callback).check()
        }
        for callback in [
            "", "in", "javascript:alert(1)", "data:text/html,x", "https://a.example/#x",
            "https://a.example; script-src *", "https://", "https://a\n.example",
            "https://a.example/" + String(repeating: "x", count: AppSignIn.mostCallbackBytes),
        ] {
            #expect(throws: OperatorError.self) { try AppSignIn(callback: callback).check() }
        }
    }

    @Test("A policy names the callback's origin, or its scheme")
    func source() {
        #expect(AppSignIn(callback: "https://a.example/in").callbackSource == "https://a.example")
        #expect(AppSignIn(callback: "notes://in").callbackSource == "notes:")
        #expect(AppSignIn().callbackSource == nil)
        #expect(
            AppSignIn(callback: "notes://in").callback(with: "t")
                == "notes://in?ckWebAuthToken=t&ckSession=t")
    }
}
