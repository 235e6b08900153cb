// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

@Suite("Bodies as gzip, both ways")
struct GzipTests {
    /// `{"zones":[]}`, as Python's module `gzip` compresses it.
    private static let compressed =
        Hex.bytes(
            "1f8b0800000000000203ab56aacacf4b2d56b28a8ead05006babca660c000000"[...]) ?? []

    private static func send(
        _ api: TestAPI, _ body: [UInt8], _ coding: String = "gzip",
        path: String = "private/zones/lookup"
    ) async -> WebResponse {
        await api.cloud.respond(
            to: WebRequest(
                .post, api.target(path), headers: [.contentEncoding: coding], body: .bytes(body)))
    }

    @Test("A request is expanded, whoever compressed it")
    func request() async throws {
        let api = try await TestAPI()
        for coding in ["gzip", "x-gzip", "GZIP", "identity, gzip"] {
            let answer = await Self.send(api, Self.compressed, coding)
            #expect(answer.status == 200)
            #expect(try await answer.body.collect() == Array(#"{"zones":[]}"#.utf8))
        }
        let plain = await Self.send(api, Array(#"{"zones":[]}"#.utf8), "identity")
        #expect(plain.status == 200)
        try await api.serving { port in
            let connection = try RawConnection(port)
            try connection.send(
                "POST \(api.target("private/zones/lookup")) HTTP/1.1\r\nHost: here\r\n"
                    + "Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: "
                    + "\(Self.compressed.count)\r\n\r\n")
            try connection.send(bytes: Self.compressed)
            let answer = try await connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix(#"{"zones":[]}"#))
        }
    }

    @Test("What expands to more than a request may have is refused: 413")
    func bomb() async throws {
        let api = try await TestAPI()
        let limit = Limits().requestBytes
        let spaces = [UInt8](repeating: 0x20, count: limit - 12)
        let fits = try #require(Gzip.compressed(Array(#"{"zones":[]}"#.utf8) + spaces))
        #expect(fits.count < limit / 100)
        #expect(await Self.send(api, fits).status == 200)
        let bomb = try #require(Gzip.compressed(Array(#"{"zones":[]}"#.utf8) + spaces + [0x20]))
        let answer = await Self.send(api, bomb)
        #expect(answer.status == 413)
        let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
        #expect(text.contains("the request body is longer than \(limit) bytes (requestBytes)"))
        // What is expanded counts for its caller as if it had come so.
        var kept = 0
        #expect(throws: CancellationError.self) {
            try Gzip.expanded(bomb, upTo: limit) {
                kept += $0
                if kept > 200_000 { throw CancellationError() }
            }
        }
        #expect(kept < 300_000)
    }

    @Test("What is no gzip, only a part of it, or has more behind it is a bad request")
    func damaged() async throws {
        let api = try await TestAPI()
        let whole = Self.compressed
        var wrong = whole
        wrong[whole.count - 5] ^= 1
        for body in [
            Array(#"{"zones":[]}"#.utf8), Array(whole.dropLast()), whole + [0], whole + whole,
            wrong,
            Array(whole.prefix(10)),
        ] {
            let answer = await Self.send(api, body)
            #expect(answer.status == 400)
            let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
            #expect(text.contains("the body is not gzip, or not all of it"))
        }
    }

    @Test("Another coding, and any of a file, is 415, which names what is read")
    func otherCodings() async throws {
        let api = try await TestAPI()
        for coding in ["br", "deflate", "gzip, gzip", "zstd"] {
            let answer = await Self.send(api, Self.compressed, coding)
            #expect(answer.status == 415 && answer.headers[.acceptEncoding] == "gzip")
            let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
            let reason = "the Content-Encoding '\(coding)' is not read here; 'gzip' alone is"
            #expect(text.contains(reason), "\(text)")
        }
        let path = try await api.uploadPath("picture", of: "n")
        let file = try await api.send("POST", path, "abc", headers: ["Content-Encoding": "gzip"])
        #expect(file.status == 415 && file[header: "Accept-Encoding"] == "identity")
        #expect(try await api.send("POST", path, "abc").status == 200)
    }

    @Test("An answer is compressed for who reads that and where it is worth it")
    func answers() async throws {
        let api = try await TestAPI()
        func answer(_ path: String, _ accepted: String?) async -> WebResponse {
            await api.cloud.respond(
                .get, path, headers: accepted.map { ["Accept-Encoding": $0] } ?? [:])
        }
        let plain = await answer("/openapi.json", nil)
        let content = try await plain.body.collect()
        #expect(plain.headers[values: .vary] == ["Accept-Encoding"])
        for accepted in [
            "gzip", "x-gzip", "br, gzip", "gzip;q=0.5", "deflate, gzip;q=1.0, *;q=0.5", "*", "GZIP",
            "*;q=0, gzip",
        ] {
            let answer = await answer("/openapi.json", accepted)
            #expect(answer.headers[.contentEncoding] == "gzip", "\(accepted)")
            #expect(answer.headers[.eTag] == plain.headers[.eTag].map { "W/" + $0 })
            let bytes = try await answer.body.collect()
            #expect(bytes.count < content.count / 4)
            #expect(try Gzip.expanded(bytes, upTo: content.count) { _ in } == content)
        }
        for accepted in ["", "br", "gzip;q=0", "identity", "*;q=0", "gzip;q=0, *"] {
            let answer = await answer("/openapi.json", accepted)
            #expect(answer.headers[.contentEncoding] == nil, "\(accepted)")
            #expect(try await answer.body.collect() == content)
        }
        // The tag of a compressed one is good for asking again.
        let tag = try #require(await answer("/openapi.json", "gzip").headers[.eTag])
        let again = await api.cloud.respond(
            .get, "/openapi.json", headers: ["If-None-Match": tag, "Accept-Encoding": "gzip"])
        #expect(again.status == 304)
        // Short ones, pages and errors are not.
        for path in ["/health", "/", "/account", "/database/1/nothing"] {
            #expect(await answer(path, "gzip").headers[.contentEncoding] == nil, "\(path)")
        }
    }
}
