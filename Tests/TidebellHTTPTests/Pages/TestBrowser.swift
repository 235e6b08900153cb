// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A browser without script, over a socket: it keeps one page's cookie and sends the forms that it
/// was shown.
struct TestBrowser {
    /// What came back.
    struct Page: Sendable {
        var status: Int
        /// The header fields, by lower-case name.
        var headers: [String: String]
        var body: String

        init(_ answer: String) throws {
            let head = answer.prefix(upTo: try #require(answer.range(of: "\r\n\r\n")).lowerBound)
            body = String(answer[head.endIndex...].dropFirst(2))
            let lines = head.components(separatedBy: "\r\n")
            status = try #require(
                lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
            headers = Dictionary(
                lines.dropFirst().map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return (
                        parts[0].lowercased(),
                        parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                    )
                }, uniquingKeysWith: { "\($0), \($1)" })
        }

        /// The first heading.
        var heading: String? { body.firstMatch(of: /<h1>(.*)<\/h1>/).map { String($0.1) } }
        /// The token of the page's forms.
        var token: String? {
            body.firstMatch(of: /name="token" value="([^"]*)"/).map { String($0.1) }
        }
        /// What the page's forms ask for.
        var actions: [String] {
            body.matches(of: /name="action" value="([^"]*)"/).map { String($0.1) }
        }
        /// The text of the alert.
        var alert: String? { body.firstMatch(of: /role="alert">([^<]*)</).map { String($0.1) } }
        /// The page without what is another one for each browser.
        var common: String { body.replacing(/name="token" value="[^"]*"/, with: "") }
    }

    let port: RawConnection.Port
    let path: String
    /// The last number of its address, 127.0.0.1 or another one of this machine.
    var address: UInt32 = 1
    /// The cookie as it is sent.
    var cookie: String?
    /// The page that is shown.
    var page: Page?

    init(_ port: RawConnection.Port, at path: String, from address: UInt32 = 1) {
        (self.port, self.path, self.address) = (port, path, address)
    }

    /// Opens the page.
    @discardableResult
    mutating func open() async throws -> Page {
        let page = try await send("GET")
        self.page = page
        return page
    }

    /// Sends a form of the page that is shown and returns the answer to it; where that leads to the page,
    /// it is opened.
    @discardableResult
    mutating func submit(
        _ action: String, _ fields: [String: String] = [:], headers: [String: String] = [:]
    ) async throws -> Page {
        var fields = fields
        fields["action"] = action
        fields["token"] = fields["token"] ?? page?.token
        let body = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        var headers = headers
        headers["Content-Type"] = headers["Content-Type"] ?? "application/x-www-form-urlencoded"
        let answer = try await send("POST", body, headers: headers)
        guard answer.status == 303 else {
            page = answer
            return answer
        }
        #expect(answer.headers["location"] == path)
        try await open()
        return answer
    }

    /// Sends a request as this browser; it takes the cookie that comes back.
    mutating func send(
        _ method: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Page {
        var fields = headers
        fields["Cookie"] = fields["Cookie"] ?? cookie
        fields["Content-Length"] = body.map { String($0.utf8.count) }
        let head = fields.map { "\($0): \($1)\r\n" }.sorted().joined()
        let connection = try RawConnection(port, from: address)
        try connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\(head)\r\n\(body ?? "")"
        )
        let answer = try Page(try await connection.rest())
        if let set = answer.headers["set-cookie"] {
            cookie = set.contains("Max-Age=0") ? nil : String(set.prefix { $0 != ";" })
        }
        return answer
    }

    /// Signs in.
    @discardableResult
    mutating func signIn(_ user: String, _ password: String = "correct horse") async throws -> Page
    {
        try await submit("sign-in", ["user": user, "password": password])
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(Unicode.Scalar(byte))
            case 0x20: "+"
            default: String(format: "%%%02X", byte)
            }
        }.joined()
    }
}
