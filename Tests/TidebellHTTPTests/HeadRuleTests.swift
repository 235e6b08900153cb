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
}
