// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellServer
import TidebellHTTP

@Suite("Strangers on a socket", .hangs)
struct StrangerTests {
    private let sockets = SocketTests()

    @Test("H2: a head that drips is cut off, whatever comes of it meanwhile")
    func drippingHead() async throws {
        try await sockets.serving {
            $0.shares.strangersIdleTime = .seconds(1)
        } _: { _, port, _ in
            let connection = try RawConnection(port)
            try connection.send("GET /health HTTP/1.1\r\nDrops: ")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await eventually { (try? connection.send("a")) == nil } }
                #expect(try await connection.rest() == "")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test("H2: strangers share bytes by address: those of one take nothing from another's")
    func addresses() async throws {
        try await sockets.serving {
            $0.shares.countsLoopback = true
            $0.shares.bodyBytesPerCaller = 2000
        } _: { server, port, firstRun in
            func lookup(_ length: Int, _ body: String) -> String {
                "POST /database/1/c/development/public/records/lookup?ckAPIToken="
                    + "\(firstRun.apiToken) HTTP/1.1\r\nHost: here\r\n"
                    + "Content-Length: \(length)\r\n\r\n\(body)"
            }
            let empty = #"{"records":[]}"#
            let holding = try RawConnection(port, from: 2)
            try holding.send(lookup(2000, String(repeating: " ", count: 1999)))
            let bodies = server.cloud.webServices.cloud.shares.bodies
            #expect(await eventually { bodies.current == 1999 })
            let same = try await RawConnection(port, from: 2).request(
                lookup(empty.utf8.count, empty))
            #expect(same.hasPrefix("HTTP/1.1 429 "))
            #expect(same.contains("your requests and answers under way already have 2000 bytes"))
            let other = try await RawConnection(port, from: 3).request(
                lookup(empty.utf8.count, empty))
            #expect(other.hasPrefix("HTTP/1.1 200 "))
            holding.close()
            #expect(await eventually { bodies.current == 0 })
        }
    }
}
