// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore

@testable import TidebellAPNs
@testable import TidebellTesting

@Suite("FakeAPNs is as strict as Apple")
struct FakeAPNsRulesTests {
    private static let noon = Instant(rawValue: 1_767_268_800_000)
    private let key = SigningKey()

    private var rules: APNsRules {
        APNsRules(
            topics: ["org.example.app"], keyID: "TESTKEY123", teamID: "TESTTEAM12", key: key,
            now: { Date(timeIntervalSince1970: 1_767_268_800) }
        )
    }

    private func authorization(
        keyID: String = "TESTKEY123", teamID: String = "TESTTEAM12", at moment: Instant = noon
    ) throws -> String {
        let credentials = try ProviderCredentials(
            keyID: keyID, teamID: teamID, keyFile: key.pem
        )
        return "bearer \(try credentials.token(at: moment).text)"
    }

    private func reason(_ message: APNsMessage, authorization: String? = nil) throws -> String? {
        let header = try authorization ?? self.authorization()
        guard case .failure(let refusal) = rules.judge(message.with("authorization", header))
        else { return nil }
        return refusal.words
    }

    @Test("what Apple takes is taken")
    func taken() throws {
        #expect(try reason(.push) == nil)
        let alert = APNsMessage.push.with("apns-push-type", "alert").with("apns-priority", nil)
            .with(body: #"{"aps":{"alert":"New","badge":1}}"#)
        #expect(try reason(alert) == nil)
        #expect(try reason(APNsMessage.push.with("apns-id", nil)) == nil)
        #expect(try reason(APNsMessage.push.with("apns-expiration", nil)) == nil)
    }

    @Test(
        "headers are checked",
        arguments: [
            (":method", "GET", "405 MethodNotAllowed"),
            (":path", "/2/device/ab12", "404 BadPath"),
            (":path", "/3/device/", "400 MissingDeviceToken"),
            (":path", "/3/device/xyz1", "400 BadDeviceToken"),
            (":path", "/3/device/abc", "400 BadDeviceToken"),
            ("apns-topic", nil, "400 MissingTopic"),
            ("apns-topic", "org.example.other", "400 TopicDisallowed"),
            ("apns-id", "42", "400 BadMessageId"),
            ("apns-expiration", "-1", "400 BadExpirationDate"),
            ("apns-expiration", "tomorrow", "400 BadExpirationDate"),
            ("apns-priority", "7", "400 BadPriority"),
            ("apns-priority", "10", "400 BadPriority"),
            ("apns-priority", nil, "400 BadPriority"),
            ("apns-push-type", "silent", "400 InvalidPushType"),
            ("apns-push-type", nil, "400 InvalidPushType"),
            ("apns-collapse-id", String(repeating: "c", count: 65), "400 BadCollapseId"),
        ] as [(String, String?, String)])
    func headers(name: String, value: String?, answer: String) throws {
        #expect(try reason(APNsMessage.push.with(name, value)) == answer)
    }

    @Test("a header twice is one too many")
    func duplicates() throws {
        var message = APNsMessage.push
        message.headers.append(("apns-topic", "org.example.app"))
        #expect(try reason(message) == "400 DuplicateHeaders")
    }

    @Test(
        "PUSH-5, NINFO-27: bodies are checked",
        arguments: [
            ("", "400 PayloadEmpty"),
            ("no JSON", "400 PayloadEmpty"),
            ("[]", "400 PayloadEmpty"),
            (#"{"aps":{}}"#, "400 InvalidPushType"),
            (#"{"aps":{"content-available":1,"badge":1}}"#, "400 InvalidPushType"),
            (#"{"a":""# + String(repeating: "x", count: 4096) + #""}"#, "413 PayloadTooLarge"),
        ])
    func bodies(body: String, answer: String) throws {
        #expect(try reason(APNsMessage.push.with(body: body)) == answer)
    }

    @Test("provider tokens are checked: key, team, signature and age")
    func providerTokens() throws {
        let hour = Duration.seconds(3600)
        let cases: [(String, String?)] = [
            (try authorization(keyID: "OTHERKEY12"), "403 InvalidProviderToken"),
            (try authorization(teamID: "OTHERTEAM1"), "403 InvalidProviderToken"),
            (try authorization() + "A", "403 InvalidProviderToken"),
            ("bearer ", "403 InvalidProviderToken"),
            ("basic abc", "403 MissingProviderToken"),
            (try authorization(at: Self.noon.advanced(by: .zero - hour)), nil),
            (
                try authorization(at: Self.noon.advanced(by: .zero - hour - .seconds(1))),
                "403 ExpiredProviderToken"
            ),
            (try authorization(at: Self.noon.advanced(by: hour)), "403 InvalidProviderToken"),
        ]
        for (header, answer) in cases {
            #expect(try reason(.push, authorization: header) == answer, "\(header)")
        }
    }
}
