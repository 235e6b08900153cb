// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire
import HTTPTypes

@Suite("One caller's share", .hangs)
struct ShareTests {
    private let sockets = SocketTests()

    private func post(
        _ firstRun: FirstRun?, length: Int, body: String = "", path: String = "zones/lookup"
    ) -> String {
        let tokens = firstRun.map { "?" + SocketTests.tokens($0) } ?? ""
        return "POST /database/1/c/development/private/\(path)\(tokens) HTTP/1.1\r\n"
            + "Host: here\r\nContent-Length: \(length)\r\n\r\n" + body
    }

    @Test("H2: without tokens no body is read, and the connection ends with the refusal")
    func strangersBodies() async throws {
        try await sockets.serving { server, port, _ in
            let connection = try RawConnection(port)
            let answer = try await connection.request(post(nil, length: 4_194_303, body: "{"))
            #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
            #expect(answer.contains("\r\nConnection: close\r\n"))
            #expect(server.cloud.webServices.cloud.shares.bodies.current == 0)
            #expect(try await connection.next() == "")
        }
    }

    @Test(
        "H2: a request that is refused by its head costs no body",
        arguments: [
            ("POST /database/1/c/development/private/no/such", 404),
            ("PUT /health", 405),
            ("POST /database/1/c/development/private/zones/lookup?ckAPIToken=unknown", 401),
            ("POST /ext/1/c/development/account/signIn", 401),
            ("OPTIONS /database/1/c/development/private/zones/lookup", 204),
            ("POST /assets/1/upload/unknown", 400),
        ]
    )
    func refusedHeads(start: String, status: Int) async throws {
        try await sockets.serving { server, port, _ in
            let connection = try RawConnection(port)
            let answer = try await connection.request(
                "\(start) HTTP/1.1\r\nHost: here\r\nContent-Length: 4000000\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(server.cloud.webServices.cloud.shares.bodies.current == 0)
        }
    }

    @Test("A refusal whose body is short keeps the connection")
    func shortRest() async throws {
        try await sockets.serving { _, port, _ in
            let connection = try RawConnection(port)
            let refused = try await connection.request(post(nil, length: 2))
            #expect(refused.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
            #expect(!refused.lowercased().contains("connection: close"))
            let answer = try await connection.request(
                "{}GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("H2: one caller's bodies have a share, all bodies a bound; the refusals name them")
    func bodyBytes() async throws {
        try await sockets.serving {
            $0.shares.bodyBytes = 3998
            $0.shares.bodyBytesPerCaller = 2000
        } _: { server, port, firstRun in
            let body = String(repeating: " ", count: 1999)
            let holding = try RawConnection(port)
            try holding.send(post(firstRun, length: 2000, body: body))
            let bodies = server.cloud.webServices.cloud.shares.bodies
            #expect(await eventually { bodies.current == 1999 })
            let second = try await RawConnection(port).request(
                post(firstRun, length: 1999, body: body))
            #expect(second.hasPrefix("HTTP/1.1 429 "))
            #expect(second.contains("your requests and answers under way already have 2000 bytes"))
            #expect(second.contains("\r\nRetry-After: 2\r\n"))
            // The user of the token is another caller.
            let other = try await server.cloud.accounts.add(named: "ben")
            var others = firstRun
            others.webToken = other
            let third = try await RawConnection(port).request(
                post(others, length: 2000, body: body + " "))
            #expect(third.hasPrefix("HTTP/1.1 503 "))
            #expect(third.contains("requests and answers under way already have 3998 bytes"))
            holding.close()
            #expect(await eventually { bodies.current == 0 })
        }
    }

    /// Saves records of so many bytes, and returns the request that looks them all up.
    private func lookup(
        _ count: Int, ofBytes bytes: Int, _ server: TidebellServer, _ firstRun: FirstRun
    ) async -> WebRequest {
        let path = "/database/1/c/development/private/records"
        func request(_ name: String, _ body: String) -> WebRequest {
            WebRequest(
                .post, "\(path)/\(name)?\(SocketTests.tokens(firstRun))",
                body: .bytes(Array(body.utf8)))
        }
        let text = String(repeating: "x", count: bytes)
        for index in 0..<count {
            let saved = await server.cloud.webServices.respond(
                to: request(
                    "modify",
                    """
                    {"operations":[{"operationType":"forceUpdate","record":{"recordName":\
                    "r\(index)","recordType":"T","fields":{"f":{"value":"\(text)"}}}}]}
                    """))
            #expect(saved.status == 200)
        }
        let names = (0..<count).map { #"{"recordName":"r\#($0)"}"# }.joined(separator: ",")
        return request("lookup", #"{"records":[\#(names)]}"#)
    }

    @Test("H2: filling the strangers' part of the bodies keeps nobody from signing in")
    func signInBesideBodies() async throws {
        try await sockets.serving {
            $0.shares.bodyBytes = 4000
        } _: { server, port, firstRun in
            func head(_ path: String, _ length: Int) -> String {
                "POST \(path)?ckAPIToken=\(firstRun.apiToken) HTTP/1.1\r\nHost: here\r\n"
                    + "Content-Length: \(length)\r\n\r\n"
            }
            let lookup = "/database/1/c/development/public/records/lookup"
            let holding = try RawConnection(port)
            try holding.send(head(lookup, 2000) + String(repeating: " ", count: 1999))
            let bodies = server.cloud.webServices.cloud.shares.bodies
            #expect(await eventually { bodies.current == 1999 })
            let stranger = try await RawConnection(port).request(head(lookup, 2) + "{}")
            #expect(stranger.hasPrefix("HTTP/1.1 503 "))
            let body = #"{"user":"otto","password":"wrong"}"#
            let signIn = try await RawConnection(port).request(
                head("/ext/1/c/development/account/signIn", body.utf8.count) + body)
            #expect(signIn.hasPrefix("HTTP/1.1 401 "))
            holding.close()
            #expect(await eventually { bodies.current == 0 })
        }
    }

    @Test("H2: a write whose answer has no room is refused before anything is written")
    func writesWithLargeAnswers() async throws {
        try await sockets.serving {
            $0.shares.bodyBytes = 300_000
            $0.shares.bodyBytesPerCaller = 40_000
        } _: { server, port, firstRun in
            let services = server.cloud.webServices
            let lookup = await lookup(1, ofBytes: 50_000, server, firstRun)
            func write(_ operation: String, _ tag: String) async throws -> String {
                let body = """
                    {"operations":[{"operationType":"\(operation)","record":{"recordName":"r0",\
                    "recordType":"T",\(tag)"fields":{"small":{"value":1}}}}]}
                    """
                return try await RawConnection(port).request(
                    post(firstRun, length: body.utf8.count, body: body, path: "records/modify"))
            }
            let outdated = #""recordChangeTag":"1","#
            do {
                let held = await services.respond(to: lookup)
                #expect(held.status == 200)
                // The server's version of the record, or the saved one, would come back.
                let conflict = try await write("update", outdated)
                #expect(conflict.hasPrefix("HTTP/1.1 429 "))
                let saved = try await write("forceUpdate", "")
                #expect(saved.hasPrefix("HTTP/1.1 429 "))
                _ = held
            }
            do {
                let after = await services.respond(to: lookup)
                let text = String(decoding: try await after.body.collect(), as: UTF8.self)
                #expect(!text.contains(#""small""#))
            }
            #expect(try await write("update", outdated).hasPrefix("HTTP/1.1 200 "))
            #expect(await eventually { services.cloud.shares.bodies.current == 0 })
            #expect(try await write("forceUpdate", "").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("H2: answers that nobody reads have a share like bodies; a caller's only one always fits")
    func unreadAnswers() async throws {
        try await sockets.serving {
            $0.shares.bodyBytes = 300_000
            $0.shares.bodyBytesPerCaller = 40_000
        } _: { server, _, firstRun in
            let services = server.cloud.webServices
            let lookup = await lookup(1, ofBytes: 50_000, server, firstRun)
            do {
                let first = await services.respond(to: lookup)
                #expect(first.status == 200 && first.share != nil)
                #expect(services.cloud.shares.bodies.current > 50_000)
                let second = await services.respond(to: lookup)
                #expect(second.status == 429)
                let reason = String(decoding: try await second.body.collect(), as: UTF8.self)
                #expect(reason.contains("requests and answers under way already have 40000 bytes"))
                _ = first
            }
            #expect(services.cloud.shares.bodies.current == 0)
            #expect(await services.respond(to: lookup).status == 200)
        }
    }

    @Test("H2: a caller's only answer fits beside its own request, however long that was")
    func answerToLongRequest() async throws {
        try await sockets.serving {
            $0.shares.bodyBytes = 300_000
            $0.shares.bodyBytesPerCaller = 40_000
        } _: { server, port, firstRun in
            let lookup = await lookup(1, ofBytes: 50_000, server, firstRun)
            guard case .bytes(let names) = lookup.body else { return }
            let body =
                String(decoding: names, as: UTF8.self) + String(repeating: " ", count: 30_000)
            let answer = try await RawConnection(port).request(
                "POST \(lookup.target) HTTP/1.1\r\nHost: here\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
        }
    }

    @Test("H2: a client that reads an answer slowly gets all of it, and is not idle meanwhile")
    func slowReader() async throws {
        try await sockets.serving {
            $0.shares.idleTime = .milliseconds(1)
        } _: { server, port, firstRun in
            let lookup = await lookup(8, ofBytes: 900_000, server, firstRun)
            guard case .bytes(let body) = lookup.body else { return }
            let connection = try RawConnection(port)
            try connection.send(
                "POST \(lookup.target) HTTP/1.1\r\nHost: here\r\nContent-Length: \(body.count)\r\n\r\n"
                    + String(decoding: body, as: UTF8.self))
            var count = 0
            while case let piece = try await connection.next(), !piece.isEmpty {
                count += piece.utf8.count
            }
            #expect(count > 8 * 900_000)
            #expect(await eventually { server.cloud.webServices.cloud.shares.bodies.current == 0 })
        }
    }

    @Test("H2: a body that drips is cut off")
    func dripping() async throws {
        try await sockets.serving {
            $0.shares.bodyTime = .seconds(2)
        } _: { server, port, firstRun in
            let connection = try RawConnection(port)
            let answer = try await connection.request(post(firstRun, length: 2, body: "{"))
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(try await connection.next() == "")
            #expect(await eventually { server.cloud.webServices.cloud.shares.bodies.current == 0 })
        }
    }

    @Test("H2: an upload that is cut off is no file, though its connection ends like one")
    func cutUpload() async throws {
        try await sockets.serving {
            $0.shares.bodyTime = .seconds(2)
        } _: { server, port, firstRun in
            let asked = try await RawConnection(port).request(
                post(
                    firstRun, length: 76,
                    body: #"{"tokens":[{"recordName":"r","recordType":"#
                        + #""Note","fieldName":"picture"}]}   "#, path: "assets/upload"))
            let path = try #require(
                asked.split(separator: "/assets/1/").last?.split(separator: "\"").first)
            for head in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
                let connection = try RawConnection(port)
                let answer = try await connection.request(
                    "POST /assets/1/\(path) HTTP/1.1\r\nHost: here\r\n\(head)\r\n\r\n"
                        + (head.hasPrefix("C") ? "abc" : "3\r\nabc\r\n"))
                #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(head)")
            }
            let whole = try await RawConnection(port).request(
                "POST /assets/1/\(path) HTTP/1.1\r\nHost: here\r\nContent-Length: 3\r\n\r\nabc")
            #expect(whole.hasPrefix("HTTP/1.1 200 "))
            #expect(whole.contains(#""size":3"#))
            _ = server
        }
    }

    @Test("M10: an idle stranger is closed soon, a user later")
    func idleStrangers() async throws {
        try await sockets.serving {
            $0.shares.strangersIdleTime = .seconds(2)
        } _: { _, port, firstRun in
            let path = "/database/1/c/development/private/zones/list?"
            let get = "GET \(path)\(SocketTests.tokens(firstRun)) HTTP/1.1\r\nHost: here\r\n\r\n"
            // On a busy machine a connection may be closed before its first request.
            var connected: RawConnection?
            await eventually {
                connected = try? RawConnection(port)
                return (try? await connected?.request(get))?.hasPrefix("HTTP/1.1 200 OK\r\n")
                    ?? false
            }
            let user = try #require(connected)
            let stranger = try RawConnection(port)
            #expect(try await stranger.next() == "")
            #expect(try await user.request(get).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("M10: one address has a part of the connections; the refusal names the bound")
    func connectionsOfOneAddress() async throws {
        try await sockets.serving {
            $0.shares.countsLoopback = true
            $0.shares.connectionsPerAddress = 2
        } _: { _, port, _ in
            let get = "GET /health HTTP/1.1\r\nHost: here\r\n\r\n"
            let first = try RawConnection(port)
            let second = try RawConnection(port)
            #expect(try await first.request(get).hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(try await second.request(get).hasPrefix("HTTP/1.1 200 OK\r\n"))
            let refused = try await RawConnection(port).request(get)
            #expect(refused.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(refused.contains("the server has 2 connections from your address already"))
            #expect(refused.contains("\r\nRetry-After: 5\r\n"))
        }
    }

    @Test("M10: connections that are refused and send nothing take nobody's slot")
    func silentRefused() async throws {
        try await sockets.serving {
            $0.connections = 16
            $0.shares.countsLoopback = true
            $0.shares.connectionsPerAddress = 1
        } _: { _, port, _ in
            var silent: [RawConnection] = []
            for _ in 0..<40 { silent.append(try RawConnection(port, from: 2)) }
            let answer = try await RawConnection(port, from: 3).request(
                "GET /health HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            // One has the address's slot, one waits for its answer; the others are closed.
            #expect(try await silent[39].next() == "")
        }
    }

    @Test("M10: idle connections give way when all slots are taken")
    func idleGiveWay() async throws {
        try await sockets.serving {
            $0.connections = 8
        } _: { _, port, firstRun in
            let user = try RawConnection(port)
            let path = "/database/1/c/development/private/zones/list?"
            let get = "GET \(path)\(SocketTests.tokens(firstRun)) HTTP/1.1\r\nHost: here\r\n\r\n"
            #expect(try await user.request(get).hasPrefix("HTTP/1.1 200 OK\r\n"))
            var strangers: [RawConnection] = []
            for _ in 0..<20 {
                let stranger = try RawConnection(port)
                let answer = try await stranger.request("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                strangers.append(stranger)
            }
            #expect(try await strangers[0].next() == "")
            // Strangers went before the user.
            #expect(try await user.request(get).hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("ERR-16: more requests a second than a caller's share are THROTTLED, of others not")
    func requestRate() async throws {
        var shares = ShareLimits()
        shares.requestsPerSecond = 2
        shares.burstSeconds = 2
        let api = try await TestAPI(shares: shares)
        let other = try await api.cloud.accounts.add(named: "ben")
        let target = api.target("private/zones/list")
        // The caller was asked for once before.
        for _ in 0..<3 { #expect(try await api.send("GET", target).status == 200) }
        let refused = try await api.send("GET", target)
        #expect(refused.status == 429)
        #expect(refused[header: "Retry-After"] == "1")
        #expect(
            refused.error
                == WireError(
                    .throttled,
                    "you make more than 2 requests a second (requestsPerSecond): wait a little",
                    retryAfter: 1
                )
        )
        let others = target.replacing(api.webToken, with: other)
        #expect(try await api.send("GET", others).status == 200)
        api.clock.advance(by: .milliseconds(500))
        #expect(try await api.send("GET", target).status == 200)
        #expect(try await api.send("GET", target).status == 429)
    }

    @Test("Requests without a user count for their address, also those with unknown tokens")
    func requestRateOfAddress() async throws {
        var shares = ShareLimits()
        shares.requestsPerSecond = 1
        shares.burstSeconds = 2
        let api = try await TestAPI(shares: shares)
        let path = "/database/1/c/development/public/records/query?ckAPIToken=unknown"
        let one = PeerAddress("192.0.2.1")
        for status in [401, 401, 429] {
            #expect(try await api.send("POST", path, "{}", from: one).status == status)
        }
        let two = PeerAddress("192.0.2.2")
        #expect(try await api.send("POST", path, "{}", from: two).status == 401)
        // Clients behind a proxy on this machine cannot be distinguished.
        let local = PeerAddress("127.0.0.1")
        for _ in 0..<4 {
            #expect(try await api.send("POST", path, "{}", from: local).status == 401)
        }
    }

    @Test(
        "Below every limit of open files there is room for connections, transfers and the rest",
        arguments: [64, 128, 256, 640, 1024, 20_000, 2_000_000]
    )
    func openFiles(limit: Int) {
        let used = 36
        let shares = OpenFiles.shares(of: limit, used: used)
        #expect(shares.connections >= 8)
        #expect(shares.transfers >= 2)
        #expect(used + shares.connections + shares.transfers + 14 <= limit)
    }

    @Test(
        "A network has one share: an IPv4 address, or 64 bits of an IPv6 address",
        arguments: [
            ("192.0.2.1", "192.0.2.1", false), ("::ffff:192.0.2.1", "192.0.2.1", false),
            ("127.0.0.9", "127.0.0.9", true), ("::1", "::1", true),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", false),
            ("fe80::1%eth0", "fe80::/64", false),
        ]
    )
    func networks(text: String, network: String, isLoopback: Bool) throws {
        let address = try #require(PeerAddress(text))
        #expect(address.network == network)
        #expect(address.isLoopback == isLoopback)
        #expect(PeerAddress("x" + text) == nil)
    }
}
