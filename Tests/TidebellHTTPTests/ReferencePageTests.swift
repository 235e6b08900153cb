// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellHTTP

@Suite("The reference page")
struct ReferencePageTests {
    @Test("It is served, and the welcome page leads to it")
    func served() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/reference")
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.text.hasPrefix("# Web Services: reference\n"))
        #expect(try await api.send("GET", "/").text.contains("<a href=\"reference\">"))
    }

    @Test("Browsers get it as a page, in which no sign of the text's own is left")
    func page() async throws {
        let api = try await TestAPI()
        let text = try await api.send("GET", "/reference")
        let page = try await api.send(
            "GET", "/reference", headers: ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"])
        #expect(page[header: "Content-Type"] == "text/html; charset=utf-8")
        #expect(page[header: "Vary"]?.hasPrefix("Accept") == true)
        #expect(page[header: "Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
        #expect(text[header: "Vary"]?.hasPrefix("Accept") == true)
        for sign in ["**", "`", "|---", "\n# ", "\n## ", "\n| "] {
            #expect(!page.text.contains(sign), "\(sign)")
        }
        #expect(!page.text.contains("\u{FFFD}"))
        let code = try #require(page.text.firstMatch(of: /<pre tabindex="0">([^<]*)<\/pre>/)?.1)
        #expect(
            code.split(separator: "\n").map { $0.prefix(6) }
                == ["/datab", "/devic", "/ext/1", "/admin"])
        let rows = text.text.matches(of: /(?m)^\|/).count
        let tables = text.text.matches(of: /(?m)^\|---/).count
        #expect(page.text.matches(of: /<tr>/).count == rows - tables)
        #expect(page.text.matches(of: /<table>/).count == tables)
        #expect(page.text.matches(of: /<h2>/).count == text.text.matches(of: #/(?m)^\#\# /#).count)
        #expect(page.text.matches(of: /<li>/).count == 3)
        #expect(page.text.contains("<td><code>ACCESS_DENIED</code></td><td>403</td>"))
        #expect(page.text.contains("<strong>Renewal.</strong> In the second half"))
    }

    @Test("Every error code stands there, with its status and its CKError.Code")
    func codes() async throws {
        let text = try await TestAPI().send("GET", "/reference").text
        for code in ServerErrorCode.allCases {
            let row = try #require(
                text.split(separator: "\n").first { $0.hasPrefix("| `\(code.rawValue)` |") })
            let cells = row.split(separator: "|").map { $0.split(separator: " ") }
            #expect(cells[1].first?.prefix(3) == "\(code.status)", "\(row)")
            let numbers = cells[4].map { $0.prefix { $0 != "," } }
            #expect(numbers.contains("\(code.ckErrorCode)"), "\(row)")
        }
    }

    @Test("Every extension, and every path of the operator's and of the server's own, stands there")
    func endpoints() async throws {
        let text = try await TestAPI().send("GET", "/reference").text
        for endpoint in WireProtocol.endpoints {
            let path = endpoint.route.path
            switch path.root {
            case .ext, .admin:
                let parts = path.action.split(separator: "/")
                #expect(
                    text.contains(path.action)
                        || (text.contains(parts[0] + "/") && text.contains(parts[1])),
                    "\(path.action)")
            case .control: #expect(text.contains(path.root.prefix + path.action))
            case .server where endpoint.route.access == .open && !path.action.isEmpty:
                let isPage = Router.pages.contains { $0.route == endpoint.route }
                #expect(isPage || text.contains("`/\(path.action)`"), "\(path.action)")
            case .server, .database, .device, .assets: break
            }
        }
    }
}
