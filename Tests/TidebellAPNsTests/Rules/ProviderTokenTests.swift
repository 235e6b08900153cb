// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore

@testable import TidebellAPNs
@testable import TidebellTesting

@Suite("Provider tokens")
struct ProviderTokenTests {
    private static let noon = Instant(rawValue: 1_767_268_800_000)

    private static func minutes(_ minutes: Int) -> Instant {
        noon.advanced(by: .seconds(60 * minutes))
    }

    private static func credentials(_ key: SigningKey = SigningKey()) throws -> ProviderCredentials
    {
        try ProviderCredentials(keyID: "TESTKEY123", teamID: "TESTTEAM12", keyFile: key.pem)
    }

    @Test("a provider token is a JSON Web Token signed with ES256")
    func signature() throws {
        let key = SigningKey()
        let token = try Self.credentials(key).token(at: Self.noon)
        let rules = APNsRules(
            topics: ["org.example.app"], keyID: "TESTKEY123", teamID: "TESTTEAM12", key: key,
            now: { Date(timeIntervalSince1970: 1_767_268_800) }
        )
        var message = APNsMessage.push
        message.headers.append(("authorization", "bearer \(token.text)"))
        #expect(throws: Never.self) { try rules.judge(message).get() }
        #expect(token.text.split(separator: ".").count == 3)
        #expect(!token.text.contains { "+/=".contains($0) })
    }

    @Test("a provider token is used for 50 minutes, then replaced")
    func renewal() throws {
        let tokens = ProviderTokens(try Self.credentials())
        let first = try tokens.current(at: Self.noon)
        #expect(try tokens.current(at: Self.minutes(49)) == first)
        let second = try tokens.current(at: Self.minutes(50))
        #expect(second.issuedAt == Self.minutes(50) && second.text != first.text)
    }

    @Test("a clock that was set back makes a new provider token")
    func clockSetBack() throws {
        let tokens = ProviderTokens(try Self.credentials())
        _ = try tokens.current(at: Self.minutes(50))
        #expect(try tokens.current(at: Self.noon).issuedAt == Self.noon)
    }

    @Test("a token that Apple calls expired is replaced at once, once for all its requests")
    func expired() throws {
        let tokens = ProviderTokens(try Self.credentials())
        let old = try tokens.current(at: Self.noon)
        #expect(tokens.drop(old, at: Self.minutes(2)))
        let new = try tokens.current(at: Self.minutes(2))
        #expect(tokens.drop(old, at: Self.minutes(2)))
        #expect(try tokens.current(at: Self.minutes(2)) == new)
    }

    @Test("a new token that Apple calls expired shows a wrong clock")
    func wrongClock() throws {
        let tokens = ProviderTokens(try Self.credentials())
        let token = try tokens.current(at: Self.noon)
        #expect(!tokens.drop(token, at: Self.noon.advanced(by: .seconds(59))))
        #expect(try tokens.current(at: Self.noon) == token)
    }

    @Test("what is no key file of Apple's is refused with a reason")
    func badKeys() throws {
        let pem = SigningKey().pem
        func reason(_ keyID: String, _ teamID: String, _ file: String) -> String? {
            do {
                _ = try ProviderCredentials(keyID: keyID, teamID: teamID, keyFile: file)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason("TESTKEY123", "TESTTEAM12", pem) == nil)
        #expect(
            reason("SHORT", "TESTTEAM12", pem)
                == "the key ID 'SHORT' must be 10 letters and digits"
        )
        #expect(
            reason("TESTKEY123", "TEAM_UNDER", pem)
                == "the team ID 'TEAM_UNDER' must be 10 letters and digits"
        )
        #expect(reason("TESTKEY123", "TESTTEAM12", "hello")?.contains(".p8 file") == true)
        let cut = pem.replacing("A", with: "")
        #expect(reason("TESTKEY123", "TESTTEAM12", cut)?.contains("P-256") == true)
    }
}
