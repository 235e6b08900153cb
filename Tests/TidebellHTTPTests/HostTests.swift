// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellHTTP

@Suite("The Host of a request", .hangs)
struct HostTests {
    @Test(
        "A request of HTTP/1.1 has one Host, which is a name and a port (RFC 9112, 3.2)",
        arguments: [
            ("", "has one header 'Host', this one has 0"),
            ("Host: a\r\nHost: a\r\n", "has one header 'Host', this one has 2"),
            ("Host: a/b\r\n", "the header 'Host' is not the name and port of a server: 'a/b'"),
            ("Host: me@there\r\n", "'me@there'"), ("Host: a, b\r\n", "'a, b'"),
        ])
    func refused(fields: String, reason: String) async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            for method in ["GET", "OPTIONS"] {
                let answer = try await RawConnection(port)
                    .request("\(method) /health HTTP/1.1\r\n\(fields)\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(answer)")
                #expect(answer.contains(reason), "\(answer)")
                #expect(answer.contains("BAD_REQUEST"), "\(answer)")
            }
        }
    }

    @Test(
        "An empty one means that there is none, and HTTP/1.0 needs none",
        arguments: [
            "GET /health HTTP/1.1\r\nHost:\r\n\r\n",
            "GET /health HTTP/1.1\r\nHost: [::1]:8642\r\n\r\n",
            "GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/1.0\r\nHost: a\r\n\r\n",
        ])
    func answered(request: String) async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let answer = try await RawConnection(port).request(request)
            let version = request.contains("HTTP/1.0") ? "1.0" : "1.1"
            #expect(answer.hasPrefix("HTTP/\(version) 200 OK\r\n"), "\(answer)")
        }
    }
}
