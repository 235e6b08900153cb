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

/// A socket that accepts one connection, reads one request and answers with given bytes.
final class RawServer: Sendable {
    private let listener: Int32
    private let port: UInt16
    private let isListening = Locked(true)
    private let connection = Locked<Int32?>(nil)
    private let request = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    /// Listens on a free port; without an answer nobody is accepted.
    init(answering answer: String?, thenCloses: Bool = true) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        guard let answer else { return }
        Thread.detachNewThread { [self] in serve(Array(answer.utf8), thenCloses) }
    }

    deinit {
        _ = close()
    }

    func url(_ path: String = "") throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
    }

    /// Waits for the request; as text.
    func received() async -> String {
        for await text in request.stream { return text }
        return ""
    }

    /// Closes both sockets; returns the address where nobody listens any more.
    func close() -> String {
        hangUp()
        isListening.withLock { isListening in
            // Once: the number of a closed descriptor soon belongs to somebody else.
            guard isListening else { return }
            shutdown(listener, Int32(SHUT_RDWR))
            Foundation.close(listener)
            isListening = false
        }
        return "http://127.0.0.1:\(port)"
    }

    private func hangUp() {
        connection.withLock { connection in
            guard let open = connection else { return }
            shutdown(open, Int32(SHUT_RDWR))
            Foundation.close(open)
            connection = nil
        }
    }

    private func serve(_ answer: [UInt8], _ closes: Bool) {
        let accepted = accept(listener, nil, nil)
        guard accepted >= 0 else { return }
        connection.current = accepted
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !Self.isComplete(bytes) {
            let count = read(accepted, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        request.continuation.yield(String(decoding: bytes, as: UTF8.self))
        _ = answer.withUnsafeBytes {
            send(accepted, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if closes { hangUp() }
    }

    /// Whether head and body are there; bodies of these tests are `{}` or none.
    private static func isComplete(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasSuffix("\r\n\r\n{}") || text.hasPrefix("GET") && text.hasSuffix("\r\n\r\n")
    }
}
