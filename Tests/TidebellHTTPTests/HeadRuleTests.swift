// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellHTTP
import Foundation

@Suite("Heads that leave open how the body ends", .hangs)
struct HeadRuleTests {
    private static let health = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n"
    private static let chunks = "2\r\n{}\r\n0\r\n\r\n"

    @Test(
        "are refused at once, and nothing is read after them (RFC 9112, 6.1 and 6.3)",
        arguments: [
            ("1.1", "Content-Length: 9223372036854775808"),
            ("1.1", "Content-Length: 18446744073709551615"),
            ("1.0", "Transfer-Encoding: chunked"),
            ("1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked"),
        ], [false, true]
    )
    func refused(head: (version: String, field: String), afterAnother: Bool) async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let connection = try RawConnection(port)
            let target = api.target("private/zones/lookup")
            // The client neither ends its sending side nor closes the connection.
            try connection.send(
                (afterAnother ? Self.health : "")
                    + "POST \(target) HTTP/\(head.version)\r\nHost: here\r\n\(head.field)\r\n\r\n"
                    + Self.chunks + Self.health)
            let answers = try await connection.rest().components(separatedBy: "HTTP/1.1 ")
                .dropFirst()
            #expect(answers.count == (afterAnother ? 2 : 1))
            #expect(answers.last?.hasPrefix("400 Bad Request\r\n") == true)
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("W-20: a client of HTTP/1.0 gets answers without chunks, which end with the connection")
    func withoutChunks() async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            // What follows its request is none.
            let health = try RawConnection(port)
            try health.send(Self.health + "GET /health HTTP/1.0\r\n\r\n" + Self.health)
            let answers = try await health.rest()
            #expect(answers.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 2)
            #expect(answers.components(separatedBy: "HTTP/1.0 200 OK\r\n").count == 2)
            #expect(answers.hasSuffix("\r\n\r\n{\"status\":\"ok\"}"))

            let stream = try RawConnection(port)
            let path = "/ext/1/\(TestAPI.container)/development/notifications/stream"
            try stream.send(
                "GET \(path)?ckAPIToken=\(api.apiToken)&ckWebAuthToken=\(api.webToken)"
                    + "&clientId=desk HTTP/1.0\r\n\r\n")
            var text = ""
            while !text.contains("event: ready") { text += try await stream.next() }
            let parts = text.components(separatedBy: "\r\n\r\n")
            #expect(parts[0].hasPrefix("HTTP/1.0 200 OK\r\n"))
            #expect(!parts[0].lowercased().contains("transfer-encoding"))
            #expect(parts.dropFirst().first?.hasPrefix("event: ready") == true, "\(text)")
        }
    }
}
