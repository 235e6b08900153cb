// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellPush
import TidebellServer

@Suite("notifications/stream, notifications/ack", .hangs)
struct StreamTests {
    /// A cloud with a subscribed zone `A`.
    private func subscribedAPI(
        heldRequests: HeldRequests = HeldRequests()
    ) async throws -> TestAPI {
        let api = try await TestAPI(heldRequests: heldRequests)
        try await api.makeZone("A")
        try await api.subscribe(to: "A")
        return api
    }

    private func open(_ api: TestAPI, _ query: String = "") async -> WebResponse {
        await api.cloud.respond(
            .get, api.target(under: "ext", "notifications/stream") + "&clientId=device\(query)"
        )
    }

    /// Registers the device, so that what follows is kept for it.
    private func register(_ api: TestAPI) async {
        _ = await open(api)
    }

    private func change(_ api: TestAPI, _ names: String...) async throws {
        for name in names {
            try await api.save(name, in: "A", from: name)
            _ = try await api.cloud.pipeline.drain()
        }
    }

    @Test("A stream begins with ready and its cursor (9)")
    func ready() async throws {
        let api = try await subscribedAPI()
        let response = await open(api)
        #expect(response.status == 200)
        #expect(response.headers[.contentType] == "text/event-stream")
        var pieces = Pieces(response)
        #expect(try await pieces.next() == "event: ready\nid: 0\ndata: {}\n\n")
    }

    @Test("A notification is an event with its sequence as ID")
    func event() async throws {
        let api = try await subscribedAPI()
        var pieces = Pieces(await open(api))
        _ = try await pieces.next()
        try await change(api, "a")
        let event = try #require(try await pieces.next())
        let number = try await api.logNumbers()[0]
        #expect(event.hasPrefix("id: \(number)\ndata: {\"aps\":{\"content-available\":1},\"ck\":{"))
        #expect(event.hasSuffix("}\n\n"))
    }

    @Test("PRUNE-8: a stream carries the whole payload, or if asked that of Apple's push service")
    func wholePayloads() async throws {
        let body = String(repeating: "x", count: PayloadPruner.limit)
        for query in ["", "&payload=apns"] {
            let api = try await TestAPI()
            try await api.makeZone("A")
            let saved = try await api.post(
                "private/subscriptions/modify",
                """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
                "subscriptionType":"zone","zoneID":{"zoneName":"A"},\
                "notificationInfo":{"alertBody":"\(body)"}}}]}
                """)
            #expect(saved.status == 200 && !saved.text.contains("serverErrorCode"))
            await register(api)
            var pieces = Pieces(await open(api, query))
            _ = try await pieces.next()
            try await change(api, "a")
            let event = try #require(try await pieces.next())
            #expect(event.contains(body) == query.isEmpty)
            #expect(event.contains(#""p":1"#) == !query.isEmpty)
            // What waits in the log is no other.
            var again = Pieces(await open(api, query + "&cursor=0"))
            _ = try await again.next()
            #expect(try await again.next() == event)
        }
    }

    @Test("A stream resumes after its cursor, given as parameter or as Last-Event-ID")
    func cursor() async throws {
        let api = try await subscribedAPI()
        await register(api)
        // Two origins, so that the second push does not replace the first.
        try await change(api, "a", "b")
        let numbers = try await api.logNumbers()
        var byParameter = Pieces(await open(api, "&cursor=\(numbers[0])"))
        #expect(try await byParameter.next() == "event: ready\nid: \(numbers[0])\ndata: {}\n\n")
        #expect(try await byParameter.next()?.hasPrefix("id: \(numbers[1])\n") == true)
        let response = await api.cloud.respond(
            .get, api.target(under: "ext", "notifications/stream") + "&clientId=device",
            headers: ["Last-Event-ID": "\(numbers[0])"]
        )
        var byHeader = Pieces(response)
        #expect(try await byHeader.next() == "event: ready\nid: \(numbers[0])\ndata: {}\n\n")
    }

    @Test("Without cursor, a stream resumes after what the device acknowledged")
    func acknowledged() async throws {
        let api = try await subscribedAPI()
        await register(api)
        try await change(api, "a", "b")
        let numbers = try await api.logNumbers()
        let answer = try await api.send(
            "POST", api.target(under: "ext", "notifications/ack") + "&clientId=device",
            #"{"cursor":"\#(numbers[0])"}"#
        )
        #expect(answer.withoutHeaders == TestAPI.Answer(status: 200, text: "{}"))
        var pieces = Pieces(await open(api))
        #expect(try await pieces.next() == "event: ready\nid: \(numbers[0])\ndata: {}\n\n")
        #expect(try await pieces.next()?.hasPrefix("id: \(numbers[1])\n") == true)
    }

    @Test("A cursor from beyond the log counts as none: it is another store's")
    func foreignCursor() async throws {
        let api = try await subscribedAPI()
        var pieces = Pieces(await open(api, "&cursor=900"))
        #expect(try await pieces.next() == "event: ready\nid: 0\ndata: {}\n\n")
        let answer = try await api.send(
            "POST", api.target(under: "ext", "notifications/ack") + "&clientId=device",
            #"{"cursor":"900"}"#
        )
        #expect(answer.status == 200)
        try await change(api, "a")
        let number = try await api.logNumbers()[0]
        #expect(try await pieces.next()?.hasPrefix("id: \(number)\n") == true)
    }

    @Test("Silence is broken every 15 seconds")
    func heartbeat() async throws {
        let api = try await subscribedAPI()
        var pieces = Pieces(await open(api))
        _ = try await pieces.next()
        try await withThrowingTaskGroup(of: Void.self) { group throws in
            group.addTask { try await api.cloud.streams.run() }
            for _ in 0..<2 {
                for _ in 0..<3 {
                    await api.clock.untilSleeping()
                    api.clock.advance(by: .seconds(5))
                }
                #expect(try await pieces.next() == ": \n\n")
            }
            group.cancelAll()
        }
    }

    @Test("NOTIF-15: a device is notified of a gap when the log has lost what it may have missed")
    func gap() async throws {
        let api = try await subscribedAPI()
        await register(api)
        try await change(api, "a", "b")
        let numbers = try await api.logNumbers()
        _ = try await api.cloud.store.write(.everything) {
            try $0.removeNotifications(
                createdBefore: TestAPI.start.advanced(by: .seconds(60)), limit: 1
            )
        }
        var away = Pieces(await open(api, "&cursor=0"))
        #expect(
            try await away.next()
                == "event: ready\nid: 0\ndata: {}\n\nevent: gap\nid: \(numbers[0])\ndata: {}\n\n"
        )
        #expect(try await away.next()?.hasPrefix("id: \(numbers[1])\n") == true)
        var present = Pieces(await open(api, "&cursor=\(numbers[0])"))
        #expect(try await present.next() == "event: ready\nid: \(numbers[0])\ndata: {}\n\n")
    }

    @Test("A stream that its reader leaves is closed")
    func leaving() async throws {
        let api = try await subscribedAPI()
        do {
            var pieces = Pieces(await open(api))
            _ = try await pieces.next()
            #expect(api.cloud.streams.openCount == 1)
        }
        #expect(await eventually { api.cloud.streams.openCount == 0 })
    }

    @Test("More streams than the server holds are asked to come back")
    func tooMany() async throws {
        let api = try await subscribedAPI(heldRequests: HeldRequests(capacity: 1))
        do {
            var pieces = Pieces(await open(api))
            _ = try await pieces.next()
            let refused = await open(api)
            #expect(refused.status == 503)
            #expect(refused.headers[.retryAfter] == "30")
        }
        #expect(await eventually { api.cloud.webServices.cloud.heldRequests.current == 0 })
        #expect(await open(api).status == 200)
    }

    @Test("M10: one user cannot take all streams; the refusal names the bound")
    func tooManyOfOneUser() async throws {
        let api = try await subscribedAPI(heldRequests: HeldRequests(capacity: 2, share: 1))
        let other = try await api.cloud.accounts.add(named: "ben")
        var pieces = Pieces(await open(api))
        _ = try await pieces.next()
        let target = api.target(under: "ext", "notifications/stream") + "&clientId=d2"
        let refused = try await api.send("GET", target)
        #expect(refused.status == 429)
        #expect(
            refused.error
                == WireError(
                    .throttled,
                    "the server already holds 1 streams and polls of yours (heldRequestsPerCaller)",
                    retryAfter: 30
                )
        )
        let response = await api.cloud.respond(.get, target.replacing(api.webToken, with: other))
        #expect(response.status == 200)
    }

    @Test(
        "Requests about a device are refused where they are not clear",
        arguments: [
            ("GET", "notifications/stream", "", "", "missing query parameter 'clientId'"),
            (
                "GET", "notifications/stream", "&clientId=d&cursor=-1", "",
                "cursor '-1' is not the ID of an event"
            ),
            (
                "GET", "notifications/stream", "&clientId=d&cursor=new", "",
                "cursor 'new' is not the ID of an event"
            ),
            (
                "GET", "notifications/stream", "&clientId=d&payload=whole", "",
                "payload 'whole' is not 'apns'"
            ),
            (
                "POST", "notifications/ack", "", #"{"cursor":"1"}"#,
                "missing query parameter 'clientId'"
            ),
            (
                "POST", "notifications/ack", "&clientId=d", "{}",
                "BadRequestException: missing required field 'cursor'"
            ),
            (
                "POST", "notifications/ack", "&clientId=d", #"{"cursor":"x"}"#,
                "BadRequestException: expected a cursor of the stream in cursor"
            ),
        ]
    )
    func unclear(
        method: String, path: String, query: String, body: String, reason: String
    ) async throws {
        let api = try await TestAPI()
        let answer = try await api.send(method, api.target(under: "ext", path) + query, body)
        #expect(answer.error == .badRequest(reason))
    }
}

extension TestAPI {
    /// The numbers that the user's notifications have in the log.
    func logNumbers() async throws -> [Int64] {
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        return try await cloud.store.read { reader throws in
            let account = try #require(try reader.account(named: "me"))
            let user = try #require(try reader.user(of: account, in: container)).id
            return try reader.notifications(
                for: user, after: .start, excludingOrigin: nil, limit: 100
            ).map(\.sequence.rawValue)
        }
    }
}
