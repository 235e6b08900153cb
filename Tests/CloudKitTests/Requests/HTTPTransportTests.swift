// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// The real transport against real sockets: what it sends, and how it fails.
@Suite(.hangs) struct HTTPTransportTests {
    static let request = TransportRequest(
        method: "POST",
        path: "/database/1?x=%2B",
        headers: [("X-Tidebell-Extensions", "1")],
        body: Array("{}".utf8)
    )

    @Test("A request goes out as it was made, and the whole answer comes back")
    func roundTrip() async throws {
        let server = try RawServer(
            answering: "HTTP/1.1 404 Not Found\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nhello"
        )
        let transport = HTTPTransport(server: try server.url("/base/"))
        let response = try await transport.send(Self.request, timeout: .patience)
        #expect(response.status == 404)
        #expect(response.header("retry-after") == "7")
        #expect(String(decoding: response.body, as: UTF8.self) == "hello")
        let sent = await server.received()
        #expect(sent.hasPrefix("POST /base/database/1?x=%2B HTTP/1.1\r\n"))
        #expect(sent.lowercased().contains("\r\nx-tidebell-extensions: 1\r\n"))
        #expect(sent.hasSuffix("\r\n\r\n{}"))
    }

    @Test("ERR-12: a server that refuses connections is unreachable")
    func unreachable() async throws {
        let closed = try RawServer(answering: nil).close()
        let transport = HTTPTransport(server: try #require(URL(string: closed)))
        let result = await Result {
            try await transport.send(Self.request, timeout: .patience)
        }
        guard case .failure(TransportError.unreachable) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test("ERR-13: a connection that ends before the answer does is lost")
    func connectionLost() async throws {
        for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"] {
            let server = try RawServer(answering: answer)
            let transport = HTTPTransport(server: try server.url())
            let result = await Result {
                try await transport.send(Self.request, timeout: .patience)
            }
            guard case .failure(TransportError.connectionLost) = result else {
                Issue.record("\(answer): \(result)")
                continue
            }
        }
    }

    @Test("ERR-13: neither the head nor the body of an answer may take too long")
    func timedOut() async throws {
        for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"] {
            let server = try RawServer(answering: answer, thenCloses: false)
            let transport = HTTPTransport(server: try server.url())
            let result = await Result {
                try await transport.send(Self.request, timeout: .milliseconds(200))
            }
            guard case .failure(TransportError.timedOut(.milliseconds(200))) = result else {
                Issue.record("\(answer): \(result)")
                continue
            }
        }
    }

    @Test("A transport of tests gives every request its least time")
    func leastTimeout() async throws {
        let server = try RawServer(answering: "", thenCloses: false)
        let transport = HTTPTransport(
            server: try server.url(), leastTimeout: .milliseconds(200))
        await #expect(throws: TransportError.timedOut(.milliseconds(200))) {
            try await transport.send(Self.request, timeout: .milliseconds(1))
        }
    }

    @Test("OP-8: cancelling the task ends a request with CancellationError")
    func cancelled() async throws {
        let server = try RawServer(answering: "", thenCloses: false)
        let transport = HTTPTransport(server: try server.url())
        let task = Task {
            await Result { try await transport.send(Self.request, timeout: .patience) }
        }
        _ = await server.received()
        task.cancel()
        guard case .failure(is CancellationError) = await task.value else {
            Issue.record("not cancelled")
            return
        }
    }

    @Test("A stream delivers its chunks while it goes on, and ends with its connection")
    func stream() async throws {
        let server = try RawServer(
            answering:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nid:\r\n2\r\n\n\n\r\n",
            thenCloses: false
        )
        let transport = HTTPTransport(server: try server.url())
        let stream = try await transport.stream(TransportRequest(method: "GET", path: "/s"))
        #expect(stream.status == 200)
        var text = ""
        do {
            for try await chunk in stream.chunks {
                text += String(decoding: chunk, as: UTF8.self)
                if text == "id:\n\n" { _ = server.close() }
            }
            Issue.record("the stream ended as if it was complete")
        } catch {
            guard case TransportError.connectionLost = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(text == "id:\n\n")
    }

    @Test("A stream that is refused gives status and body")
    func refusedStream() async throws {
        let server = try RawServer(
            answering: "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 2\r\n\r\n{}"
        )
        let transport = HTTPTransport(server: try server.url())
        let stream = try await transport.stream(TransportRequest(method: "GET", path: "/s"))
        #expect(stream.status == 421)
        #expect(String(decoding: stream.body, as: UTF8.self) == "{}")
    }
}
