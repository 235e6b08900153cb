// SPDX-License-Identifier: Apache-2.0
import GRDB
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellWire
import TidebellPush
import Foundation
import HTTPTypes
import TidebellServer

@Suite("tokens/create, tokens/register, courier", .hangs)
struct CourierTests {
    private func create(_ api: TestAPI, root: String = "device") async throws -> TokenResponse {
        let target =
            root == "device"
            ? api.target(under: "device", "tokens/create")
            : api.target("public/tokens/create")
        let answer = try await api.send(
            "POST", target, #"{"apnsEnvironment":"development","clientId":"page"}"#,
            headers: ["Host": "tide.example:8642"]
        )
        #expect(answer.status == 200)
        return try answer.token()
    }

    @Test(
        "SUB-50: a token is 64 hex digits with a courier on the same host",
        arguments: ["device", "database"]
    )
    func createsToken(root: String) async throws {
        let api = try await TestAPI()
        let token = try await create(api, root: root)
        #expect(token.apnsEnvironment == .development)
        #expect(token.apnsToken.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        let pattern = /http:\/\/tide\.example:8642\/courier\/[0-9a-f]{64}/
        #expect(token.webcourierURL.wholeMatch(of: pattern) != nil)
    }

    @Test("Registering a token of ours answers its three members, a native one {} (5.12)")
    func registers() async throws {
        let api = try await TestAPI()
        let token = try await create(api)
        func register(_ token: String) async throws -> TestAPI.Answer {
            try await api.send(
                "POST", api.target(under: "device", "tokens/register"),
                #"{"apnsEnvironment":"development","apnsToken":"\#(token)","clientId":"page"}"#,
                headers: ["Host": "tide.example:8642"]
            )
        }
        #expect(try await register(token.apnsToken).token() == token)
        #expect(
            try await register("00ff").withoutHeaders == TestAPI.Answer(status: 200, text: "{}")
        )
    }

    @Test("Registering without a token is refused (5.12)")
    func registersNothing() async throws {
        let api = try await TestAPI()
        let answer = try await api.send(
            "POST", api.target(under: "device", "tokens/register"),
            #"{"apnsEnvironment":"production"}"#
        )
        #expect(
            answer.error == .badRequest("BadRequestException: missing required field 'apnsToken'")
        )
    }

    @Test("A poll is answered with one notification; the next poll gets the next (10.13)")
    func oneMessageAPoll() async throws {
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        try await api.makeZone("A")
        try await api.makeZone("B")
        try await api.subscribe(to: "A")
        try await api.subscribe(to: "B")
        try await api.save("a", in: "A")
        try await api.save("b", in: "B")
        _ = try await api.cloud.pipeline.drain()
        let first = try await api.send("GET", courier)
        let second = try await api.send("GET", courier)
        #expect(first.status == 200)
        #expect(first.text.hasPrefix(#"{"aps":{"content-available":1},"ck":{"#))
        #expect(first.text.contains(#""zid":"A""#))
        #expect(second.text.contains(#""zid":"B""#))
    }

    @Test(
        "M6: a database that waits without a change is passed over, and leaves the queue after a while; its next change is notified",
        .onSQLite,
        arguments: [0, 2000])
    func waitingWithoutChange(entriesSince: Int) async throws {
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        _ = try await api.cloud.pipeline.drain()
        let file = try DatabaseQueue(
            path: api.folder.appendingPathComponent(SQLiteFactory.fileName).path)
        try await file.write { connection in
            try connection.execute(
                sql: """
                    DELETE FROM outbox;
                    INSERT OR REPLACE INTO outbox_queue (database, done, turn)
                    SELECT id, 0, 1 FROM database;
                    INSERT INTO sqlite_sequence (name, seq) VALUES ('outbox', ?);
                    """,
                arguments: [entriesSince]
            )
        }
        func waiting() async throws -> Int? {
            try await file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox_queue") }
        }
        let queued = try await waiting() ?? 0
        #expect(queued > 0)
        #expect(try await api.cloud.pipeline.drain() == 0)
        #expect(try await waiting() == (entriesSince > 0 ? 0 : queued))
        try await api.save("a", in: "A")
        #expect(try await api.cloud.pipeline.drain() == 1)
        #expect(try await api.send("GET", courier).text.contains(#""zid":"A""#))
    }

    @Test("A message whose poll broke off is given out again (5.12)")
    func brokenPoll() async throws {
        struct Broken: BodyWriter {
            struct Gone: Error {}
            mutating func write(_ bytes: [UInt8]) throws { throw Gone() }
        }
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        try await api.save("a", in: "A")
        _ = try await api.cloud.pipeline.drain()
        guard case .stream(let produce) = await api.cloud.respond(.get, courier).body else {
            Issue.record("a poll is answered with a stream")
            return
        }
        var writer: any BodyWriter = Broken()
        await #expect(throws: Broken.Gone.self) { try await produce(&writer) }
        #expect(try await api.send("GET", courier).text.contains(#""zid":"A""#))
    }

    @Test("A poll waits for its notification")
    func waits() async throws {
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        async let poll = api.send("GET", courier)
        await api.clock.untilSleeping()
        try await api.save("a", in: "A")
        _ = try await api.cloud.pipeline.drain()
        #expect(try await poll.text.contains(#""zid":"A""#))
    }

    @Test("A poll without a push ends empty after 55 seconds (5.12)")
    func idle() async throws {
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        async let poll = api.send("GET", courier)
        await api.clock.untilSleeping()
        api.clock.advance(by: .seconds(55))
        #expect(try await poll.withoutHeaders == TestAPI.Answer(status: 200, text: ""))
    }

    @Test("SUB-46: a page is not notified of its own changes")
    func origin() async throws {
        let api = try await TestAPI()
        let courier = try await create(api).courierPath
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        try await api.save("a", in: "A", from: "page")
        try await api.save("b", in: "A", from: "elsewhere")
        _ = try await api.cloud.pipeline.drain()
        _ = try await api.send("GET", courier)
        async let poll = api.send("GET", courier)
        await api.clock.untilSleeping()
        api.clock.advance(by: .seconds(55))
        #expect(try await poll.text.isEmpty)
    }

    @Test("W-4: a token that another user registers gets another courier; the old one is 404")
    func otherUser() async throws {
        let api = try await TestAPI()
        let otto = try await api.cloud.accounts.add(named: "otto")
        let annas = try await create(api)
        func register(_ query: String, clientID: String) async throws -> TokenResponse {
            try await api.send(
                "POST", query,
                #"{"apnsEnvironment":"development","apnsToken":"\#(annas.apnsToken)","#
                    + #""clientId":"\#(clientID)"}"#,
                headers: ["Host": "tide.example:8642"]
            ).token()
        }
        let own = api.target(under: "device", "tokens/register")
        // Her own next page keeps it.
        #expect(try await register(own, clientID: "page-2") == annas)
        let target = own.replacing(api.webToken, with: otto)
        let ottos = try await register(target, clientID: "ottos-page")
        #expect(ottos.apnsToken == annas.apnsToken)
        #expect(ottos.webcourierURL != annas.webcourierURL)
        let old = try await api.send("GET", annas.courierPath)
        #expect(old.status == 404 && old.error?.code == .notFound)
        // What comes for her is not for him.
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        try await api.save("a", in: "A")
        _ = try await api.cloud.pipeline.drain()
        async let poll = api.send("GET", ottos.courierPath)
        #expect(await eventually { api.clock.sleeperCount == 1 })
        api.clock.advance(by: .seconds(55))
        #expect(try await poll.text.isEmpty)
    }

    @Test("W-12: the courier of a client ID that another user took over is 404")
    func takenOver() async throws {
        let api = try await TestAPI()
        let otto = try await api.cloud.accounts.add(named: "otto")
        let courier = try await create(api).courierPath
        let target = api.target(under: "device", "tokens/create")
        let answer = try await api.send(
            "POST", target.replacing(api.webToken, with: otto),
            #"{"apnsEnvironment":"development","clientId":"page"}"#
        )
        #expect(answer.status == 200)
        #expect(try await api.send("GET", courier).status == 404)
    }

    @Test("An unknown courier is 404")
    func unknown() async throws {
        let api = try await TestAPI()
        for path in ["/courier/nobody", "/courier", "/courier/"] {
            let answer = try await api.send("GET", path)
            #expect(answer.status == 404)
            #expect(answer.error?.code == .notFound)
        }
    }
}

extension TestAPI.Answer {
    fileprivate func token() throws -> TokenResponse {
        var parts: [String: String] = [:]
        try JSONReader.read(Array(text.utf8)) { reader in
            try reader.readObject { reader, name in parts[name.text] = try reader.readString() }
        }
        return TokenResponse(
            apnsEnvironment: try #require(
                parts["apnsEnvironment"].flatMap(CloudEnvironment.init(rawValue:))
            ),
            apnsToken: try #require(parts["apnsToken"]),
            webcourierURL: try #require(parts["webcourierURL"])
        )
    }
}

extension TokenResponse {
    fileprivate var courierPath: String {
        webcourierURL.replacing("http://tide.example:8642", with: "")
    }
}
