// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import HTTPTypes

@Suite("What a browser finds at the server itself")
struct WelcomeTests {
    @Test("The welcome page says what the server is and that it is well, without a cookie")
    func welcome() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/")
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Type"] == "text/html; charset=utf-8")
        #expect(answer[header: "Set-Cookie"] == nil)
        #expect(answer[header: "Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        #expect(answer[header: "X-Frame-Options"] == "DENY")
        #expect(answer.text.contains("<h1>This is Tidebell</h1>"))
        #expect(answer.text.contains("It is healthy"))
        #expect(answer.text.contains("Version \(Version.text)"))
    }

    @Test("/version answers the version, to everybody")
    func version() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/version")
        #expect(answer.status == 200)
        #expect(answer.text == #"{"name":"tidebell","version":"\#(Version.text)"}"#)
    }

    @Test("The script for browsers is the module, for all origins, and 304 for whom has it")
    func script() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/tidebell.js")
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Type"] == "text/javascript; charset=utf-8")
        #expect(answer[header: "Access-Control-Allow-Origin"] == "*")
        #expect(answer[header: "Cross-Origin-Resource-Policy"] == "cross-origin")
        #expect(answer[header: "X-Content-Type-Options"] == "nosniff")
        #expect(answer[header: "Cache-Control"] == "no-cache")
        #expect(answer.text.contains("export class Container "))
        let tag = try #require(answer[header: "ETag"])
        let again = try await api.send("GET", "/tidebell.js", headers: ["If-None-Match": tag])
        #expect(again.status == 304)
        #expect(again.text == "")
        #expect(again[header: "ETag"] == tag)
        #expect(again[header: "Access-Control-Allow-Origin"] == "*")
        let other = try await api.send(
            "GET", "/tidebell.js", headers: ["If-None-Match": #""another""#])
        #expect(other.status == 200)
    }
}
