// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellHTTP

@Suite("Requests that are answered early, or end early", .hangs)
struct EarlyAnswerTests {
    private func post(_ target: String, _ headers: String, body: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: here\r\n\(headers)\r\n\r\n\(body)"
    }

    @Test(
        "An early refusal reaches a client that sends its whole body before it reads",
        arguments: ["", "Connection: close\r\n"]
    )
    func refusedWhileSending(header: String) async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let count = 24 << 20
            let answer = try await RawConnection(port).request(
                post(
                    "/assets/1/upload/unknown", "\(header)Content-Length: \(count)",
                    body: String(repeating: "x", count: count)
                ))
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.contains("the upload URL is not valid"))
        }
    }

    @Test("A user's connection outlives an early refusal, once all of the body has come")
    func connectionGoesOn() async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let connection = try RawConnection(port)
            let count = 8 << 20
            let refused = try await connection.request(
                post(api.target("private/records/modify"), "Content-Length: \(count)"))
            #expect(refused.hasPrefix("HTTP/1.1 413 "))
            #expect(!refused.contains("Connection: close"))
            try connection.send(String(repeating: "x", count: count))
            let next = try await connection.request("GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(next.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(
        "A head beyond its bounds is refused, also to a client that sends all of it first",
        arguments: ["a field", "fields", "the target"]
    )
    func longHead(part: String) async throws {
        let count = 20 << 20
        let head =
            switch part {
            case "a field": "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: count)
            case "fields": "GET / HTTP/1.1" + String(repeating: "\r\nX: y", count: count / 6)
            default: "GET /" + String(repeating: "x", count: count) + " HTTP/1.1"
            }
        let api = try await TestAPI()
        try await api.serving { port in
            let connection = try RawConnection(port)
            let answer = try await connection.request(head + "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
            #expect(answer.contains("at most 81920 bytes and 1000 fields (headBytes)"))
            connection.endSending()
            #expect(try await connection.rest().isEmpty)
        }
    }

    @Test(
        "What is no request is answered, and a request before it first", arguments: [false, true])
    func noRequest(afterAnother: Bool) async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let connection = try RawConnection(port)
            let before = afterAnother ? "GET /health HTTP/1.1\r\nHost: here\r\n\r\n" : ""
            try connection.send(before + String(repeating: "no request\r\n", count: 1000))
            connection.endSending()
            let answer = try await connection.rest()
            let parts = answer.components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(parts.last?.hasPrefix("400 Bad Request\r\n") == true)
            #expect(parts.count == (afterAnother ? 2 : 1))
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("S13: a client that asks whether to send its body gets 100 Continue, or is refused")
    func expectations() async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let head = "Expect: 100-Continue\r\nContent-Length: 12"
            let connection = try RawConnection(port)
            let target = api.target("private/zones/lookup")
            let first = try await connection.request(post(target, head))
            #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(try await connection.request(#"{"zones":[]}"#).hasPrefix("HTTP/1.1 200 OK\r\n"))
            // The connection goes on.
            let next = try await connection.request("GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(next.hasPrefix("HTTP/1.1 200 OK\r\n"))

            let refused = try RawConnection(port)
            try refused.send(post("/database/1/c/development/private/zones/lookup", head))
            let answer = try await refused.rest()
            #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("S13: a client of HTTP/1.0 never gets 100 Continue (RFC 9110, 10.1.1)")
    func oldExpectation() async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let connection = try RawConnection(port)
            try connection.send(
                "POST \(api.target("private/zones/lookup")) HTTP/1.0\r\nHost: here\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 12\r\n\r\n")
            // Meanwhile the server comes to the first one, too.
            for _ in 0..<20 {
                _ = try await RawConnection(port).request(
                    "GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            }
            try connection.send(#"{"zones":[]}"#)
            connection.endSending()
            let answer = try await connection.rest()
            #expect(answer.split(separator: "\r\n").first?.hasSuffix(" 200 OK") == true)
            #expect(answer.components(separatedBy: "HTTP/1.").count == 2)
        }
    }

    @Test("S13: an upload asks first, and costs nothing where it is refused")
    func expectedUpload() async throws {
        let api = try await TestAPI()
        let path = try await api.uploadPath("picture", of: "n")
        try await api.serving { [self] port in
            let head = "Expect: 100-continue\r\nContent-Length:"
            let refused = try RawConnection(port)
            try refused.send(post(path, "\(head) 99999999999"))
            let answer = try await refused.rest()
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("has 99999999999 bytes"))
            let connection = try RawConnection(port)
            let first = try await connection.request(post(path, "\(head) 3"))
            #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(try await connection.request("abc").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test(
        "S13: a body that is cut short is a bad request, and no failure of the server's",
        arguments: [
            "Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ]
    )
    func cutShort(rest: String) async throws {
        let api = try await TestAPI()
        let upload = try await api.uploadPath("picture", of: "n")
        try await api.serving { port in
            for path in [api.target("private/zones/lookup"), upload] {
                let connection = try RawConnection(port)
                try connection.send("POST \(path) HTTP/1.1\r\nHost: here\r\n\(rest)")
                connection.endSending()
                let answer = try await connection.rest()
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
                #expect(answer.contains("the request ended before its body had come"))
            }
        }
        #expect(api.log.detailedLines.isEmpty)
        #expect(try api.keptFiles().isEmpty)
    }

    @Test(
        "S13: an unknown transfer coding is 501, once, and ends the connection",
        arguments: ["xchunked", "gzip, chunked", "identity"]
    )
    func transferCodings(coding: String) async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let answer = try await answer(to: coding, api, port)
            #expect(answer.hasPrefix("HTTP/1.1 501 Not Implemented\r\n"))
            #expect(answer.contains("the Transfer-Encoding '\(coding)' is not known"))
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("S13: a body whose end is ambiguous is refused by the parser (RFC 9112, 6.3)")
    func chunkedIsNotLast() async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let answer = try await answer(to: "chunked, gzip", api, port)
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
        }
    }

    @Test("S13: an unknown transfer coding ends the connection, whatever seems to end its body")
    func closesAfterUnknownCoding() async throws {
        let api = try await TestAPI()
        try await api.serving { [self] port in
            let connection = try RawConnection(port)
            // The client goes on sending.
            try connection.send(
                post(
                    api.target("private/zones/lookup"), "Transfer-Encoding: gzip, chunked",
                    body: "2\r\n{}\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: here\r\n\r\n"
                ))
            var answer = ""
            while !answer.contains("is not known"), case let piece = try await connection.next(),
                !piece.isEmpty
            { answer += piece }
            #expect(answer.hasPrefix("HTTP/1.1 501 Not Implemented\r\n"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
            #expect(try await connection.next() == "")
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
        }
    }

    private func answer(
        to coding: String, _ api: TestAPI, _ port: RawConnection.Port
    ) async throws -> String {
        let connection = try RawConnection(port)
        try connection.send(
            post(
                api.target("private/zones/lookup"), "Transfer-Encoding: \(coding)",
                body: "2\r\n{}\r\n0\r\n\r\n"
            ))
        connection.endSending()
        return try await connection.rest()
    }
}
