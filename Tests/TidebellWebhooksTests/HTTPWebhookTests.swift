// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Hummingbird
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWebhooks
import TidebellWire

@Suite("Webhooks over HTTP", .hangs)
struct HTTPWebhookTests {
    @Test("A receiver that knows the secret can verify what it gets, byte for byte")
    func signed() async throws {
        try await World.run { world in
            try await Receiver.serving([.ok]) { receiver, url in
                let (webhook, secret) = try await Webhooks(
                    store: world.store, time: .system, randomness: .system
                )
                .add(for: World.container, url: url)
                let pushed = try await world.push(["n-1"])
                try await world.running(poster: HTTPWebhookPoster()) { _ in
                    try await world.waitUntilDelivered(webhook, pushed[0])
                }
                let request = try #require(receiver.requests.first)
                #expect(receiver.requests.count == 1)
                #expect(request.headers["content-type"] == "application/json")
                #expect(request.headers["webhook-id"] == "n-1")
                #expect(request.headers["webhook-timestamp"] == "1767268800")
                let base64 = String(secret.dropFirst("whsec_".count))
                let key = SymmetricKey(data: try #require(Data(base64Encoded: base64)))
                let signed = Data("n-1.1767268800.".utf8) + request.body
                let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
                #expect(
                    request.headers["webhook-signature"]
                        == "v1," + Data(code).base64EncodedString()
                )
            }
        }
    }

    @Test("A redirect is not followed but a failure, and Retry-After comes through")
    func redirect() async throws {
        let scripts: [(HTTPResponse.Status, HTTPFields, WebhookAnswer)] = [
            (.found, [.location: "http://127.0.0.1:1/"], WebhookAnswer(status: 302)),
            (.tooManyRequests, [.retryAfter: "7"], WebhookAnswer(status: 429, retryAfter: "7")),
            (.gone, [:], WebhookAnswer(status: 410)),
        ]
        for (status, fields, answer) in scripts {
            try await Receiver.serving([status], fields) { receiver, url in
                let found = try await HTTPWebhookPoster()
                    .post(Self.message, to: url, within: .patience)
                #expect(found == answer)
                #expect(receiver.requests.count == 1)
            }
        }
    }

    @Test("A receiver that is not there is named as such in a few words")
    func refused() async throws {
        let error = await #expect(throws: WebhookUnreachable.self) {
            try await HTTPWebhookPoster()
                .post(Self.message, to: "http://127.0.0.1:1/", within: .patience)
        }
        #expect(error?.description == "Connection refused")
    }

    @Test("A receiver that does not answer in time counts as absent")
    func timeout() async throws {
        let (hold, release) = AsyncStream.makeStream(of: Void.self)
        try await Receiver.serving([.ok], hold: hold) { _, url in
            await #expect(throws: WebhookUnreachable.self) {
                try await HTTPWebhookPoster()
                    .post(Self.message, to: url, within: .milliseconds(50))
            }
            release.finish()
        }
    }

    @Test(
        "A URL that is none of http is refused when it is added",
        arguments: [
            "ftp://a.example/x", "file:///etc/passwd", "a.example", "https://", "",
            "https://user:secret@a.example/", "javascript:alert(1)",
        ]
    )
    func badURL(url: String) async throws {
        try await World.run { world throws in
            await #expect(throws: OperatorError.self) {
                try await Webhooks(store: world.store, time: .system, randomness: .system)
                    .add(for: World.container, url: url)
            }
            #expect(try await world.store.read { try $0.webhooks() }.isEmpty)
        }
    }

    @Test("An operator adds, lists, tests, enables and removes webhooks")
    func administration() async throws {
        try await World.run { world in
            let webhooks = Webhooks(
                store: world.store, poster: world.receiver, time: .system, randomness: .system
            )
            let (webhook, _) = try await webhooks.add(
                for: World.container, url: "https://a.example"
            )
            #expect(try await webhooks.list().map(\.isBehind) == [false])
            try await world.push(["a"])
            #expect(try await webhooks.list().map(\.isBehind) == [true])
            #expect(try await webhooks.test(webhook.id) == 200)
            let sample = try #require(world.receiver.messages.first)
            #expect(String(decoding: sample.body, as: UTF8.self).hasPrefix(#"{"type":"test","#))
            world.receiver.react { _, _ in .unreachable }
            await #expect(
                throws: OperatorError("The receiver did not answer: connection refused.")
            ) {
                try await webhooks.test(webhook.id)
            }
            try await world.store.write(.everything) {
                try $0.setWebhook(webhook.id, disabledBecause: "410")
            }
            try await webhooks.enable(webhook.id)
            #expect(try await webhooks.list().map(\.webhook.disabledReason) == [nil])
            try await webhooks.remove(webhook.id)
            #expect(try await webhooks.list().isEmpty)
            let unknown = OperatorError(
                .unknown, .webhook, "There is no webhook \(webhook.id.rawValue).",
                remedy: .listWebhooks
            )
            await #expect(throws: unknown) { try await webhooks.remove(webhook.id) }
            await #expect(throws: unknown) { try await webhooks.enable(webhook.id) }
            await #expect(throws: unknown) { try await webhooks.test(webhook.id) }
        }
    }

    @Test("A container has a bounded number of webhooks, and one too many learns the bound's name")
    func bounded() async throws {
        try await World.run { world in
            let webhooks = Webhooks(store: world.store, time: .system, randomness: .system)
            for number in 0..<AddWebhook.mostPerContainer {
                _ = try await webhooks.add(
                    for: World.container, url: "https://a.example/\(number)"
                )
            }
            let refused = OperatorError(
                .tooMany, .container,
                "There are already 20 webhooks for \(World.container.container) "
                    + "(webhooksPerContainer); remove one first."
            )
            await #expect(throws: refused) {
                try await webhooks.add(for: World.container, url: "https://a.example/more")
            }
        }
    }

    private static let message = WebhookMessage(
        WebhookItem(
            notification: StoredNotification(
                user: UserID(rawValue: 1), notificationID: "n", database: DatabaseID(rawValue: 1),
                subscriptionID: "s", originClient: nil, payload: Array("{}".utf8),
                isBackground: false, collapseID: nil, createdAt: World.noon
            ),
            user: "_anna", devices: []
        ),
        for: StoredWebhook(
            id: WebhookID(rawValue: 1), container: World.container, url: "", secret: [1],
            createdAt: World.noon
        ),
        at: World.noon
    )
}

/// A receiver on a socket of this machine, with the answers of the test.
private final class Receiver: Sendable {
    struct Received: Sendable {
        var headers: [String: String]
        var body: Data
    }

    private let received = Mutex<[Received]>([])

    var requests: [Received] { received.withLock(\.self) }

    /// Serves while `body` runs: the statuses in turn, the last one for ever.
    static func serving(
        _ statuses: [HTTPResponse.Status], _ fields: HTTPFields = [:],
        hold: AsyncStream<Void>? = nil,
        _ body: @escaping @Sendable (Receiver, _ url: String) async throws -> Void
    ) async throws {
        let receiver = Receiver()
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            var request = request
            let content = try await request.collectBody(upTo: 1 << 20)
            let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
            let number = receiver.received.withLock { received in
                received.append(
                    Received(
                        headers: Dictionary(headers) { first, _ in first },
                        body: Data(content.readableBytesView)
                    )
                )
                return received.count
            }
            if let hold { for await _ in hold {} }
            return Response(
                status: statuses[min(number, statuses.count) - 1], headers: fields,
                body: ResponseBody(byteBuffer: ByteBuffer(string: "read by nobody"))
            )
        }
        let application = Application(
            responder: responder,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            for await port in ports {
                try await body(receiver, "http://127.0.0.1:\(port)/hook")
                break
            }
            group.cancelAll()
        }
    }
}
