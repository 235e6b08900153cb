// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellWebhooks

@Suite("Webhook messages")
struct WebhookMessageTests {
    private static let webhook = StoredWebhook(
        id: WebhookID(rawValue: 1), container: World.container, url: "https://a.example",
        secret: [9, 8, 7], createdAt: World.noon
    )

    private static func item(from origin: String?, collapse: String? = nil) -> WebhookItem {
        func device(_ clientID: String, _ tokens: [String], topic: String?) -> DeviceTokens {
            DeviceTokens(
                user: UserID(rawValue: 1), clientID: clientID,
                tokens: tokens.map {
                    StoredPushToken(
                        token: $0, apnsEnvironment: .production, courier: nil, topic: topic
                    )
                }
            )
        }
        return WebhookItem(
            notification: StoredNotification(
                user: UserID(rawValue: 1), notificationID: "n-1", database: DatabaseID(rawValue: 1),
                subscriptionID: "s", originClient: origin,
                payload: Array(#"{"aps":{"alert":"\u00e9"},"ck":{ }}"#.utf8),
                isBackground: collapse != nil, collapseID: collapse.flatMap(CollapseID.init(text:)),
                createdAt: World.noon
            ),
            user: "_anna",
            devices: [
                device("pad", ["t1", "t2"], topic: "org.example.feed"),
                device("phone", [], topic: nil),
                device("watch", ["t3"], topic: nil),
            ]
        )
    }

    @Test("A signature is that of the example of Standard Webhooks")
    func knownSignature() throws {
        let key = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let secret = WebhookSecret(bytes: Array(key))
        #expect(secret.text == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("SUB-46: a message names all devices but the origin, and carries the payload unparsed")
    func body() {
        let message = WebhookMessage(
            Self.item(from: "watch"), for: Self.webhook, at: World.noon
        )
        #expect(
            String(decoding: message.body, as: UTF8.self) == """
                {"type":"push","container":"iCloud.org.example.feed","environment":"development",\
                "user":"_anna","notificationID":"n-1","pushType":"alert","priority":10,\
                "originDevice":"watch","devices":[{"deviceID":"pad","pushTokens":[\
                {"token":"t1","topic":"org.example.feed","apnsEnvironment":"production"},\
                {"token":"t2","topic":"org.example.feed","apnsEnvironment":"production"}]},\
                {"deviceID":"phone","pushTokens":[]}],\
                "payload":{"aps":{"alert":"\\u00e9"},"ck":{ }}}
                """
        )
        #expect(message.headers.map(\.name).contains("webhook-id"))
        #expect(message.id == "n-1")
        #expect(message.timestamp == 1_767_268_800)
        let secret = WebhookSecret(bytes: [9, 8, 7])
        #expect(
            message.signature
                == secret.signature(id: "n-1", timestamp: 1_767_268_800, body: message.body)
        )
    }

    @Test("A background push is marked so, with its collapse ID; a sample is marked as one")
    func background() {
        let message = WebhookMessage(
            Self.item(from: nil, collapse: "c"), kind: .test, for: Self.webhook, at: World.noon
        )
        let text = String(decoding: message.body, as: UTF8.self)
        #expect(text.hasPrefix(#"{"type":"test","#))
        #expect(
            text.contains(#""pushType":"background","priority":5,"collapseID":"c","devices":["#))
        #expect(text.contains(#"{"deviceID":"watch","pushTokens":[{"token":"t3","apns"#))
    }

    @Test(
        "What an answer means",
        arguments: [
            (200, nil, WebhookOutcome.delivered), (204, "9", .delivered), (410, nil, .gone),
            (400, nil, .refused), (422, "5", .refused), (413, nil, .refused),
            (301, nil, .failed(retryAfter: nil)), (404, nil, .failed(retryAfter: nil)),
            (401, nil, .failed(retryAfter: nil)), (408, nil, .failed(retryAfter: nil)),
            (425, nil, .failed(retryAfter: nil)), (500, nil, .failed(retryAfter: nil)),
            (429, "120", .failed(retryAfter: .seconds(120))),
            (503, "-5", .failed(retryAfter: .zero)), (503, "soon", .failed(retryAfter: nil)),
            (503, "Thu, 01 Jan 2026 12:01:30 GMT", .failed(retryAfter: .seconds(90))),
            (503, "Thu, 01 Jan 2026 11:00:00 GMT", .failed(retryAfter: .zero)),
            (503, "99999999999999999999", .failed(retryAfter: nil)),
        ] as [(Int, String?, WebhookOutcome)]
    )
    func outcomes(status: Int, retryAfter: String?, outcome: WebhookOutcome) {
        let answer = WebhookAnswer(status: status, retryAfter: retryAfter)
        #expect(answer.outcome(at: World.noon) == outcome)
    }

    @Test("Waits grow to a bound, are scattered, and are at least what the receiver asks for")
    func delays() {
        let configuration = WebhookConfiguration()
        func delay(_ failures: Int, _ asked: Duration? = nil, jitter: Double = 1) -> Duration {
            configuration.retryDelay(after: failures, retryAfter: asked, jitter: jitter)
        }
        #expect((1...4).map { delay($0) } == [1, 2, 4, 8].map { .seconds($0) })
        #expect(delay(1, jitter: 0) == .milliseconds(500))
        #expect([10, 11, 500].map { delay($0) } == [300, 300, 300].map { .seconds($0) })
        #expect(delay(1, .seconds(60)) == .seconds(60))
        #expect(delay(9, .seconds(1)) == .seconds(256))
        #expect(delay(1, .seconds(1_000_000)) == .seconds(3600))
    }
}
