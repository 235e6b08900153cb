// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellAPNs
import TidebellCore

@Suite("What an answer of Apple's push service calls for")
struct ActionTests {
    static let documented: [(Int, String, APNsAction)] = [
        (200, "", .delivered),
        (400, "BadCollapseId", .skip),
        (400, "BadDeviceToken", .forget(registeredUpTo: nil)),
        (400, "BadExpirationDate", .skip),
        (400, "BadMessageId", .skip),
        (400, "BadPriority", .skip),
        (400, "BadTopic", .misconfigured(.topic)),
        (400, "DeviceTokenNotForTopic", .misconfigured(.tokenOfOtherApp)),
        (400, "DuplicateHeaders", .skip),
        (400, "IdleTimeout", .retryService()),
        (400, "InvalidPushType", .skip),
        (400, "MissingDeviceToken", .forget(registeredUpTo: nil)),
        (400, "MissingTopic", .misconfigured(.topic)),
        (400, "PayloadEmpty", .skip),
        (400, "TopicDisallowed", .misconfigured(.topic)),
        (403, "BadCertificate", .misconfigured(.key)),
        (403, "BadCertificateEnvironment", .misconfigured(.key)),
        (403, "BadEnvironmentKeyIdInToken", .misconfigured(.key)),
        (403, "ExpiredProviderToken", .renew),
        (403, "Forbidden", .misconfigured(.key)),
        (403, "InvalidProviderToken", .misconfigured(.key)),
        (403, "MissingProviderToken", .misconfigured(.key)),
        (403, "UnrelatedKeyIdInToken", .misconfigured(.key)),
        (404, "BadPath", .skip),
        (405, "MethodNotAllowed", .skip),
        (410, "ExpiredToken", .forget(registeredUpTo: Instant(rawValue: 1_767_268_800_123))),
        (410, "Unregistered", .forget(registeredUpTo: Instant(rawValue: 1_767_268_800_123))),
        (413, "PayloadTooLarge", .skip),
        (429, "TooManyProviderTokenUpdates", .pause(atLeast: .seconds(60))),
        (429, "TooManyRequests", .retryToken()),
        (500, "InternalServerError", .retryService()),
        (503, "ServiceUnavailable", .retryService()),
        (503, "Shutdown", .retryService()),
    ]

    @Test("every documented status and reason has its action", arguments: documented)
    func actions(status: Int, reason: String, action: APNsAction) {
        let timestamp = status == 410 ? #","timestamp":1767268800123"# : ""
        let body = status == 200 ? "" : #"{"reason":"\#(reason)"\#(timestamp)}"#
        let answer = APNsAnswer(status: status, retryAfter: nil, body: Array(body.utf8))
        #expect(APNsAction(answer) == action)
        #expect(answer.words == (reason.isEmpty ? "200" : "\(status) \(reason)"))
    }

    @Test(
        "an answer without Apple's reason is not Apple's",
        arguments: [301, 400, 401, 403, 404, 407])
    func strangers(status: Int) {
        let answer = APNsAnswer(status: status, retryAfter: nil, body: Array("<html>".utf8))
        #expect(APNsAction(answer) == .misconfigured(.gateway))
    }

    @Test("reasons nobody knows yet are judged by their status")
    func unknownReasons() {
        #expect(APNsAction(.status(400, reason: "BadMood")) == .skip)
        #expect(APNsAction(.status(403, reason: "BadMood")) == .misconfigured(.key))
        #expect(APNsAction(.status(429, reason: "BadMood")) == .retryToken())
        #expect(APNsAction(.status(599, reason: "")) == .retryService())
        #expect(APNsAction(.status(410, reason: "")) == .forget(registeredUpTo: nil))
    }

    @Test("a gateway is waited for as long as it asks, but not for ever")
    func retryAfter() {
        func action(_ header: String) -> APNsAction {
            APNsAction(APNsAnswer(status: 503, retryAfter: header, body: []))
        }
        #expect(action("120") == .retryService(atLeast: .seconds(120)))
        #expect(action("-5") == .retryService(atLeast: .zero))
        #expect(action("99999999999") == .retryService(atLeast: .seconds(3600)))
        #expect(action("tomorrow") == .retryService())
    }

    @Test(
        "no answer at all is tried again",
        arguments: [
            APNsAnswer.Silence.lost, .unreachable, .timedOut,
        ])
    func silence(silence: APNsAnswer.Silence) {
        #expect(APNsAction(.silence(silence)) == .retryService())
    }
}
