// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

@Suite("Trusted proxies and the line of sign-ins", .hangs)
struct TrustedProxyTests {
    private static let local = ShareLimits.trusting("127.0.0.1")

    /// What stands in the header, and what the caller's network is then.
    private static let hops: [([String], String?)] = [
        (["203.0.113.5"], "203.0.113.5"),
        (["198.51.100.1, 203.0.113.5"], "203.0.113.5"),
        (["203.0.113.5, 10.9.8.7,127.0.0.1"], "203.0.113.5"),
        (["198.51.100.1", " 203.0.113.5 ", "10.0.0.1"], "203.0.113.5"),
        (["203.0.113.5:4711"], "203.0.113.5"),
        (["[2001:db8:1:2::3]:443"], "2001:db8:1:2::/64"),
        (["2001:db8:1:2::3"], "2001:db8:1:2::/64"),
        (["::ffff:203.0.113.5"], "203.0.113.5"),
        // What an attacker writes stands to the left of what the proxy wrote.
        (["garbage, 203.0.113.5"], "203.0.113.5"),
        // A character that joins with the comma after it (U+0600).
        (["\u{0600}, 203.0.113.5"], "203.0.113.5"),
        (["127.0.0.1, 203.0.113.5"], "203.0.113.5"),
        // Missing or malformed: nobody is named.
        ([], nil), ([""], nil), (["203.0.113.5, garbage"], nil),
        (["203.0.113.5,"], nil), (["unknown"], nil),
        (["10.0.0.1, 127.0.0.1"], nil), (["[203.0.113.5"], nil),
        (["203.0.113.5:99999"], nil), (["2001:db8::1:99999"], nil),
        ([Array(repeating: "10.0.0.1", count: 9999).joined(separator: ",")], nil),
    ]

    /// What a request counts as behind proxies of two machines, by its sender and its
    /// headers.
    private static let cases: [(String, [String], loopback: Bool, CountedAddress)] = [
        ("127.0.0.1", [], false, .crowd("127.0.0.1")),
        ("127.0.0.1", [], true, .crowd("127.0.0.1")),
        ("10.0.0.1", ["unknown"], false, .crowd("10.0.0.1")),
        ("127.0.0.1", ["203.0.113.5"], false, .network("203.0.113.5")),
        // A program on this machine that asks through its proxy.
        ("127.0.0.1", ["::1"], false, .nobody), ("127.0.0.1", ["::1"], true, .network("::1")),
        ("127.0.0.1", ["::1, 127.0.0.1"], false, .nobody),
        // One on the machine of the other proxy, which brings it itself or by this one's.
        ("10.0.0.1", ["::1"], false, .crowd("10.0.0.1")),
        ("127.0.0.1", ["::1, 10.0.0.1"], false, .crowd("127.0.0.1")),
        ("127.0.0.1", ["::1, 127.0.0.1, 10.0.0.1"], false, .crowd("127.0.0.1")),
        ("127.0.0.1", ["203.0.113.5, 127.0.0.1, 10.0.0.1"], false, .network("203.0.113.5")),
        // No proxies.
        ("::1", ["203.0.113.5"], false, .nobody), ("::1", [], true, .network("::1")),
        ("192.0.2.7", ["203.0.113.5"], false, .network("192.0.2.7")),
    ]

    @Test("S3: what a request counts as", arguments: Self.cases)
    func counted(
        peer: String, hops: [String], countsLoopback: Bool, counted: CountedAddress
    ) throws {
        var limits = ShareLimits()
        limits.trustedProxies = try TrustedProxies(["127.0.0.1", "10.0.0.1"])
        limits.countsLoopback = countsLoopback
        let headers = HTTPFields(hops.map { (key: "X-Forwarded-For", value: $0) })
        #expect(limits.counted(PeerAddress(peer), headers) == counted)
        #expect(limits.counted(nil, headers) == .nobody)
    }

    @Test(
        "S3: the right-most address that no trusted proxy has is the caller's",
        arguments: Self.hops
    )
    func callers(fields: [String], network: String?) throws {
        let proxies = try TrustedProxies(["127.0.0.1", "10.0.0.0/8"])
        let headers = HTTPFields(fields.map { (key: "x-forwarded-for", value: $0) })
        let local = try #require(PeerAddress("127.0.0.1"))
        #expect(proxies.caller(of: local, headers)?.network == network)
        let other = try #require(PeerAddress("10.200.0.1"))
        #expect(proxies.caller(of: other, [.from: "1"]) == nil)
    }

    @Test(
        "S3: nobody else is believed, nor any other header",
        arguments: ["192.0.2.7", "11.0.0.1", "::1", "2001:db8::1"]
    )
    func strangers(text: String) throws {
        let proxies = try TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/9"])
        let headers: HTTPFields = [.forwardedFor: "203.0.113.5"]
        let peer = try #require(PeerAddress(text))
        #expect(proxies.caller(of: peer, headers) == peer)
        #expect(TrustedProxies().caller(of: peer, headers) == peer)
        let other = HTTPFields(["Forwarded": "for=203.0.113.5", "X-Real-IP": "203.0.113.5"])
        let proxy = try #require(PeerAddress("fd12::1"))
        #expect(proxies.caller(of: proxy, other) == nil)
        #expect(proxies.caller(of: proxy, headers)?.network == "203.0.113.5")
        let outside = try #require(PeerAddress("fd80::1"))
        #expect(proxies.caller(of: outside, headers) == outside)
    }

    @Test(
        "What is no address or network is refused by name",
        arguments: ["", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "fd00::/129", "/8"]
    )
    func malformed(text: String) {
        let error = #expect(throws: TrustedProxies.NoNetwork.self) {
            try TrustedProxies(["127.0.0.1", text])
        }
        #expect(error?.text == text)
    }

    @Test("S3: a server behind a proxy that it does not trust warns what that means")
    func notices() throws {
        let none = TrustedProxies()
        let one = try TrustedProxies(["127.0.0.1"])
        #expect(ProxyNotice.warning(publicURL: nil, trusting: none) == nil)
        #expect(ProxyNotice.warning(publicURL: "https://a.example", trusting: one) == nil)
        let warning = try #require(
            ProxyNotice.warning(publicURL: "https://a.example", trusting: none))
        #expect(warning.contains("https://a.example") && warning.contains("--trusted-proxy"))
        #expect(ProxyNotice.sentence(trusting: none).isEmpty)
        #expect(ProxyNotice.sentence(trusting: one).contains("from 127.0.0.1 only"))
    }

    /// The request of a sign-in that a proxy passes on.
    private func signIn(
        _ api: TestAPI, _ user: String = "me", password: String, from address: String?
    ) -> String {
        let forwarded = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
        let body = #"{"user":"\#(user)","password":"\#(password)"}"#
        let target = api.target(under: "ext", "account/signIn")
            .replacing("&ckWebAuthToken=\(api.webToken)", with: "")
        return "POST \(target) HTTP/1.1\r\nHost: here\r\n\(forwarded)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("S3: behind a trusted proxy on this machine strangers are counted apart")
    func apart() async throws {
        let api = try await TestAPI(shares: Self.local)
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        try await api.serving { [self] port in
            let proxy = try RawConnection(port)
            func status(_ password: String, _ address: String) async throws -> String {
                let answer = try await proxy.request(
                    signIn(api, password: password, from: address))
                return String(answer.prefix(12))
            }
            for _ in 0..<SignInAttempts.maximumFailures {
                #expect(try await status("wrong", "203.0.113.1") == "HTTP/1.1 401")
            }
            #expect(try await status("correct horse", "203.0.113.1") == "HTTP/1.1 429")
            // A client that adds another address in front is the one that the proxy names.
            #expect(
                try await status("correct horse", "203.0.113.2, 203.0.113.1") == "HTTP/1.1 429")
        }
    }

    @Test("M2: behind a trusted proxy that names nobody no stranger locks a user out")
    func proxyThatNamesNobody() async throws {
        let api = try await TestAPI(shares: Self.local)
        try await api.cloud.accounts.setPassword("correct horse", of: "me", cost: .least)
        try await api.serving { [self] port in
            let proxy = try RawConnection(port)
            for _ in 0..<SignInAttempts.maximumFailures {
                let wrong = signIn(api, password: "wrong", from: nil)
                #expect(try await proxy.request(wrong).hasPrefix("HTTP/1.1 401 "))
            }
            // It waits a second for those before.
            try proxy.send(signIn(api, password: "correct horse", from: nil))
            #expect(await eventually { api.clock.sleeperCount == 1 })
            api.clock.advance(by: SignInAttempts.delay.first)
            #expect(try await proxy.next().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("S3: a trusted proxy's connections are not one address's")
    func connections() async throws {
        var shares = Self.local
        shares.countsLoopback = true
        shares.connectionsPerAddress = 1
        let api = try await TestAPI(shares: shares)
        try await api.serving { port in
            var open: [RawConnection] = []
            for _ in 0..<5 {
                let connection = try RawConnection(port)
                let answer = try await connection.request("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
                open.append(connection)
            }
        }
    }

    /// What checks passwords one by one when it is let.
    private final class HeldChecks: Sendable {
        private let open = DispatchSemaphore(value: 0)
        private let begun = Mutex<[String]>([])

        var passwords: [String] { begun.withLock { $0 } }

        func gate() -> SignInGate {
            SignInGate(time: .system) { [self] password, _ in
                begun.withLock { $0.append(password) }
                open.wait()
                return false
            }
        }

        func letGo(_ count: Int) {
            for _ in 0..<count { open.signal() }
        }
    }

    @Test("S3: 64 sign-ins that wait at one address do not keep another one from its turn")
    func newcomer() async throws {
        let api = try await TestAPI(shares: Self.local)
        let checks = HeldChecks()
        let gate = checks.gate()
        try await api.serving {
            $0.signIns = gate
        } _: { [self] port in
            var crowd: [RawConnection] = []
            for index in 0...SignInLine<Int>.capacity {
                let connection = try RawConnection(port)
                try connection.send(
                    signIn(
                        api, "user\(index)", password: "crowd \(index)", from: "203.0.113.1"))
                crowd.append(connection)
                #expect(await eventually { gate.waiting == index && checks.passwords.count == 1 })
            }
            let newcomer = try RawConnection(port)
            try newcomer.send(signIn(api, password: "newcomer", from: "203.0.113.2"))
            // The last of the crowd makes room.
            let refused = try #require(crowd.last)
            #expect(try await refused.next().hasPrefix("HTTP/1.1 503 "))
            checks.letGo(2)
            #expect(await eventually { checks.passwords.count == 3 })
            #expect(checks.passwords == ["crowd 0", "crowd 1", "newcomer"])
            checks.letGo(100)
            #expect(try await newcomer.next().hasPrefix("HTTP/1.1 401 "))
        }
    }

    /// Serves while the password of a sign-in is checked, until `body` is done: nobody else has a
    /// turn meanwhile.
    private func whileOneSignsIn(
        _ body: @escaping @Sendable (TestAPI, SignInGate, RawConnection.Port) async throws -> Void
    ) async throws -> TestAPI {
        let api = try await TestAPI(shares: Self.local)
        let checks = HeldChecks()
        let gate = checks.gate()
        try await api.serving {
            $0.signIns = gate
        } _: { [self] port in
            let first = try RawConnection(port)
            try first.send(signIn(api, password: "first", from: "203.0.113.1"))
            #expect(await eventually { checks.passwords == ["first"] })
            try await body(api, gate, port)
            #expect(checks.passwords == ["first"])
            checks.letGo(100)
            #expect(try await first.next().hasPrefix("HTTP/1.1 401 "))
        }
        return api
    }

    @Test("S3: a client that hangs up while waiting for a sign-in holds nothing, at once")
    func hangingUp() async throws {
        let api = try await whileOneSignsIn { [self] api, gate, port in
            var crowd: [RawConnection] = []
            for index in 1...SignInLine<Int>.capacity {
                let connection = try RawConnection(port)
                try connection.send(
                    signIn(api, "user\(index)", password: "gone", from: "203.0.113.\(index)"))
                crowd.append(connection)
            }
            #expect(await eventually { gate.waiting == SignInLine<Int>.capacity })
            for connection in crowd { connection.close() }
            // The first one's password is checked still.
            #expect(await eventually { gate.waiting == 0 })
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("S3: a sign-in that is hung up counts as a wrong password once it was read whole")
    func hangingUpCounts() async throws {
        _ = try await whileOneSignsIn { [self] api, gate, port in
            let whole = signIn(api, password: "gone", from: "203.0.113.7")
            let bodies = api.cloud.webServices.cloud.shares.bodies
            for _ in 0...SignInAttempts.maximumFailures {
                let connection = try RawConnection(port)
                try connection.send(String(whole.dropLast()))
                connection.close()
            }
            #expect(await eventually { bodies.current == 0 })
            for _ in 0..<SignInAttempts.maximumFailures {
                let connection = try RawConnection(port)
                try connection.send(whole)
                #expect(await eventually { gate.waiting == 1 })
                connection.close()
                #expect(await eventually { gate.waiting == 0 })
            }
            let refused = try await RawConnection(port).request(whole)
            #expect(refused.hasPrefix("HTTP/1.1 429 ") && refused.contains("wrong passwords"))
        }
    }

    @Test("M1: a client that hangs up while waiting for a long read holds nothing, at once")
    func hangingUpReads() async throws {
        var limits = Limits()
        limits.quickQuery.records = 1
        limits.longReads.atOnce = 1
        let api = try await TestAPI(limits: limits)
        for name in ["a", "b", "c"] { try await api.save(name, in: "_defaultZone") }
        let reads = api.cloud.webServices.cloud.longReads
        try await api.serving { port in
            let held = AsyncStream.makeStream(of: Void.self)
            let entered = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await reads.run(for: .account(AccountID(rawValue: 4711))) {
                        entered.continuation.yield()
                        for await _ in held.stream { return }
                    }
                }
                for await _ in entered.stream { break }
                let body = #"{"query":{"recordType":"Note"}}"#
                let connection = try RawConnection(port)
                try connection.send(
                    "POST \(api.target("private/records/query")) HTTP/1.1\r\nHost: here\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                #expect(await eventually { reads.waitingCount == 1 })
                connection.close()
                #expect(await eventually { reads.waitingCount == 0 })
                held.continuation.yield()
                try await group.waitForAll()
            }
        }
        #expect(api.log.detailedLines.isEmpty)
    }
}

extension ShareLimits {
    /// Limits of a server behind a proxy.
    fileprivate static func trusting(_ proxy: String) -> ShareLimits {
        var shares = ShareLimits()
        guard let proxies = try? TrustedProxies([proxy]) else { return shares }
        shares.trustedProxies = proxies
        return shares
    }
}
