// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellScheduling
import TidebellServer

@Suite("The requests of one connection", .hangs)
struct RequestQueueTests {
    private static let health = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n"

    private func stream(_ api: TestAPI, _ version: String = "1.1") -> String {
        "GET \(api.target(under: "ext", "notifications/stream"))&clientId=device "
            + "HTTP/\(version)\r\nHost: here\r\n\r\n"
    }

    /// Reads until all of `text` has come.
    private func read(_ connection: RawConnection, until text: String) async throws -> String {
        var all = ""
        while !all.contains(text), case let piece = try await connection.next(), !piece.isEmpty {
            all += piece
        }
        return all
    }

    @Test("What comes at once is answered in order, and nothing behind the last request is")
    func pipelined() async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let body = #"{"zones":[]}"#
            let lookup =
                "POST \(api.target("private/zones/lookup")) HTTP/1.1\r\nHost: here\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            let last = "GET /health HTTP/1.1\r\nHost: here\r\nConnection: Close\r\n\r\n"
            let connection = try RawConnection(port)
            try connection.send(
                Self.health + lookup + "HEAD /health HTTP/1.1\r\nHost: here\r\n\r\n"
                    + "GET /no HTTP/1.1\r\nHost: here\r\n\r\n" + last + Self.health)
            let answers = try await connection.rest().components(separatedBy: "HTTP/1.1 ")
                .dropFirst().map { answer in
                    let parts = answer.components(separatedBy: "\r\n\r\n")
                    return [String(answer.prefix(3)), parts.last ?? ""]
                }
            let ok = #"{"status":"ok"}"#
            #expect(answers.map(\.[0]) == ["200", "200", "200", "404", "200"])
            #expect(answers.map(\.[1])[...2] == [ok, #"{"zones":[]}"#, ""])
            #expect(answers.last?[1] == ok)
        }
    }

    @Test("A client that sends many requests before it reads gets all answers")
    func unreadAnswers() async throws {
        let api = try await TestAPI()
        try await api.serving { port in
            let connection = try RawConnection(port, receiving: 4096)
            try connection.send(String(repeating: Self.health, count: 3000))
            connection.endSending()
            let answers = try await connection.rest()
            #expect(answers.components(separatedBy: #"{"status":"ok"}"#).count == 3001)
        }
    }

    @Test("What comes behind a stream waits for its end, however much it is")
    func behindAStream() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.add(named: "anna")
        try await api.serving { port in
            let connection = try RawConnection(port)
            let request = stream(api).replacingOccurrences(of: api.webToken, with: token)
            try connection.send(request + String(repeating: Self.health, count: 100))
            _ = try await read(connection, until: "event: ready")
            _ = try await api.cloud.accounts.setDisabled(true, "anna")
            try await api.cloud.watch.look()
            connection.endSending()
            let rest = try await connection.rest()
            #expect(rest.hasPrefix("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(rest.components(separatedBy: #"{"status":"ok"}"#).count == 101)
        }
    }

    @Test(
        "A shutdown ends streams and polls, and closes idle connections, without waiting for them",
        arguments: ["1.1", "1.0"]
    )
    func shutdown(version: String) async throws {
        let api = try await TestAPI()
        let kept = Mutex<[RawConnection]>([])
        // Its time does not come: all ends by itself.
        try await api.serving(drainClock: StepClock()) { port in
            let (streaming, idle) = (try RawConnection(port), try RawConnection(port))
            try streaming.send(stream(api, version))
            _ = try await read(streaming, until: "event: ready")
            _ = try await idle.request(Self.health)
            let unread = try RawConnection(port)
            kept.withLock { $0 = [streaming, idle, unread] }
        }
        let ends = kept.withLock(\.self)
        #expect(try await ends[0].rest() == (version == "1.1" ? "0\r\n\r\n" : ""))
        for connection in ends[1...] { #expect(try await connection.rest() == "") }
        #expect(api.cloud.streams.openCount == 0)
    }

    @Test("A client that leaves, at whatever stage, holds nothing")
    func leaving() async throws {
        let api = try await TestAPI()
        _ = try await api.saveText("a", String(repeating: "tide", count: 220_000))
        let shares = Mutex<Shares?>(nil)
        let keep: @Sendable (inout Cloud) -> Void = { served in
            let own = served.shares
            shares.withLock { $0 = own }
        }
        try await api.serving(keep, drainClock: StepClock()) { port in
            let lookup = #"{"records":[{"recordName":"a"}]}"#
            let post = "POST \(api.target("private/records/lookup")) HTTP/1.1\r\nHost: here\r\n"
            let whole = post + "Content-Length: \(lookup.utf8.count)\r\n\r\n" + lookup
            for text in [
                "", "GET /hea", post + "Content-Length: 1000\r\n\r\n{",
                post + "Transfer-Encoding: chunked\r\n\r\n4\r\n{", whole, stream(api),
                Self.health + whole + stream(api) + post,
            ] {
                let connection = try RawConnection(port, receiving: 4096)
                try connection.send(text)
                if text == whole || text == stream(api) { _ = try await connection.next() }
                connection.close()
            }
            let (bodies, cloud) = (shares.withLock { $0?.bodies }, api.cloud.webServices.cloud)
            #expect(await eventually { bodies?.current == 0 })
            #expect(await eventually { cloud.heldRequests.current == 0 })
            #expect(await eventually { cloud.streams.openCount == 0 })
            #expect(try await RawConnection(port).request(Self.health).hasPrefix("HTTP/1.1 200 "))
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("A stream that is read slowly keeps little of what comes, and misses nothing")
    func slowStream() async throws {
        let api = try await TestAPI()
        try await api.makeZone("A")
        let text = String(repeating: "x", count: 12_000)
        _ = try await api.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
            "subscriptionType":"zone","zoneID":{"zoneName":"A"},\
            "notificationInfo":{"alertBody":"\(text)"}}}]}
            """)
        try await api.serving { port in
            let connection = try RawConnection(port, receiving: 4096)
            try connection.send(stream(api))
            var pieces = [try await read(connection, until: "event: ready")]
            // More than the queue of a stream has room for, and its connection.
            for number in 0..<100 {
                try await api.save("r\(number)", in: "A")
                _ = try await api.cloud.pipeline.drain()
            }
            let numbers = try await api.logNumbers()
            #expect(numbers.count == 100)
            let last = "id: \(numbers.last ?? 0)\n"
            while !pieces.suffix(2).joined().contains(last),
                case let piece = try await connection.next(), !piece.isEmpty
            { pieces.append(piece) }
            connection.close()
            let events = pieces.joined().components(separatedBy: "id: ").dropFirst(2)
            #expect(events.map { Int64($0.prefix { $0.isNumber }) } == numbers)
        }
    }
}
