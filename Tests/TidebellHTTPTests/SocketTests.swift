// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import TidebellHTTP
import TidebellServer
import TidebellTestStores
import TidebellPush

@Suite("On a socket", .hangs)
struct SocketTests {
    /// Serves a cloud in a new folder on a free port while `body` runs.
    func serving(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body:
            @escaping @Sendable (TidebellServer, RawConnection.Port, FirstRun) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-socket-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServerConfiguration(dataFolder: folder)
        configuration.stores = TestStores.factory
        configuration.port = 0
        configuration.logLevel = .error
        // A connection of a busy machine's test is neither idle nor slow.
        configuration.shares.giveTime(.patience)
        configure(&configuration)
        let server = try await TidebellServer(configuration)
        let firstRun = try #require(try await server.cloud.accounts.prepareFirstRun())
        let (running, started) = AsyncStream.makeStream(of: Int.self)
        let services = server.serviceGroup(until: []) { started.yield($0.port) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run(services) }
            for await port in running {
                try await body(server, RawConnection.Port(number: port), firstRun)
                break
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    static func tokens(_ firstRun: FirstRun) -> String {
        "ckAPIToken=\(firstRun.apiToken)&ckWebAuthToken=\(firstRun.webToken)"
    }

    @Test("A request over a socket is answered as in process, and the connection is kept")
    func requests() async throws {
        try await serving { _, port, firstRun in
            let connection = try RawConnection(port)
            let path = "/database/1/c/development/private/zones/list?\(Self.tokens(firstRun))"
            for _ in 0..<2 {
                let answer = try await connection.request(
                    "GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(answer.contains(#"{"zones":[{"zoneID":{"zoneName":"_defaultZone""#))
            }
            let head = try await connection.request("HEAD /health HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(head.hasSuffix("\r\n\r\n"))
            let unknown = try await connection.request("GET /no HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(unknown.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        }
    }

    @Test("web-services 5.12: the connection of a courier's poll takes further requests after it")
    func polls() async throws {
        try await serving {
            $0.shares.courierPolls = 1
        } _: { _, port, firstRun in
            let connection = try RawConnection(port)
            let body = #"{"apnsEnvironment":"development"}"#
            let created = try await connection.request(
                "POST /device/1/c/development/tokens/create?\(Self.tokens(firstRun)) HTTP/1.1\r\n"
                    + "Host: here\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let path = try #require(created.firstMatch(of: /\/courier\/[0-9a-f]{64}/)).output
            let poll = "GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n"
            let begun = try await connection.request(poll)
            #expect(begun.hasPrefix("HTTP/1.1 200 OK\r\n"))
            // A newer poll of the same courier ends it.
            let newer = try RawConnection(port)
            _ = try await newer.request(poll)
            #expect(try await connection.next() == "0\r\n\r\n")
            for _ in 0..<2 {
                let answer = try await connection.request(
                    "GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            newer.close()
        }
    }

    @Test("A body over the limit is refused before it is read")
    func longBody() async throws {
        try await serving { _, port, firstRun in
            let path = "/database/1/c/development/private/zones/lookup"
            let answer = try await RawConnection(port).request(
                "POST \(path)?\(Self.tokens(firstRun)) HTTP/1.1\r\n"
                    + "Host: here\r\nContent-Length: 99999999\r\n\r\n"
            )
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("the request body is longer than 4194304 bytes (requestBytes)"))
        }
    }

    @Test("A shutdown closes what does not end by itself, when its time is up")
    func drain() async throws {
        let api = try await TestAPI()
        let clock = StepClock()
        let kept = Mutex<RawConnection?>(nil)
        async let moved: Void = {
            await clock.untilSleeping()
            clock.advance(by: HTTPServer.drainTime)
        }()
        try await api.serving(drainClock: clock) { port in
            // A request that never ends.
            let connection = try RawConnection(port)
            let asks = try await connection.request(
                "POST \(api.target("private/zones/lookup")) HTTP/1.1\r\nHost: here\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 12\r\n\r\n")
            #expect(asks == "HTTP/1.1 100 Continue\r\n\r\n")
            kept.withLock { $0 = connection }
        }
        await moved
        let connection = try #require(kept.withLock { $0 })
        #expect(try await connection.rest() == "")
    }

    @Test("A device that goes away is noticed, and many that come and go do no harm")
    func disconnects() async throws {
        try await serving { server, port, firstRun in
            for round in 0..<20 {
                let connection = try RawConnection(port)
                let path =
                    "/ext/1/c/development/notifications/stream?"
                    + "\(Self.tokens(firstRun))&clientId=d\(round)"
                let answer = try await connection.request(
                    "GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                connection.close()
            }
            #expect(await eventually { server.cloud.streams.openCount == 0 })
            #expect(
                try await RawConnection(port).request("GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
                    .hasPrefix("HTTP/1.1 200 OK\r\n")
            )
        }
    }
}

/// A connection that sends what a test gives it.
final class RawConnection: Sendable {
    /// A port of this machine.
    struct Port: Sendable { var number: Int }

    struct Failure: Error { var what: String }

    private let descriptor: Int32
    private let isOpen = Mutex(true)

    /// Connects from 127.0.0.`host` of this machine.
    ///
    /// - Parameter receiving: Bytes that the system takes of what is not read, as far as it can be
    ///   set; it comes in small segments then.
    init(_ port: Port, from host: UInt32 = 1, receiving: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiving {
            var segment: Int32 = 536
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiving, size)
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, size)
        }
        guard Self.call(bind, descriptor, host, port: 0) == 0 else {
            throw Failure(what: "bind: \(errno)")
        }
        guard Self.call(connect, descriptor, 1, port: port.number) == 0 else {
            throw Failure(what: "connect: \(errno)")
        }
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ descriptor: Int32,
        _ host: UInt32, port: Int
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0000 + host).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close() }

    func close() {
        isOpen.withLock { isOpen in
            if isOpen { _ = Foundation.close(descriptor) }
            isOpen = false
        }
    }

    /// Sends nothing more, and reads on.
    func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns all that comes until the server closes the connection.
    func rest() async throws -> String {
        var all = ""
        while case let piece = try await next(), !piece.isEmpty { all += piece }
        return all
    }

    /// Sends a part of a request.
    func send(_ text: String) throws { try send(bytes: Array(text.utf8)) }

    /// Sends a part of a request.
    func send(bytes: [UInt8]) throws {
        let count = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else {
            throw Failure(what: "write: \(errno)")
        }
    }

    /// Sends a request and returns the answer as far as it came in one piece,
    /// head and body.
    func request(_ text: String) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            // Off the threads of Swift's tasks, which the server needs.
            Self.queue.async { [descriptor] in
                continuation.resume(with: Result { try Self.exchange(text, descriptor) })
            }
        }
    }

    /// Returns what comes next; an empty text when the server closed the connection.
    func next() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Self.queue.async { [descriptor] in
                var buffer = [UInt8](repeating: 0, count: 64 * 1024)
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno != ECONNRESET {
                    continuation.resume(throwing: Failure(what: "read: \(errno)"))
                } else {
                    let bytes = buffer[..<max(0, count)]
                    continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
                }
            }
        }
    }

    private static let queue = DispatchQueue(label: "connections", attributes: .concurrent)

    private static func exchange(_ text: String, _ descriptor: Int32) throws -> String {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Failure(what: "write: \(errno)")
        }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { throw Failure(what: "read: \(errno)") }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
