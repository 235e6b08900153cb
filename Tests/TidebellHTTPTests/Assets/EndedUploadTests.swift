// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

@Suite("Uploads that were asked for in a session that ended")
struct EndedUploadTests {
    /// How the session ends that asked for an upload.
    enum Ending: String, CaseIterable, Sendable {
        case signedOut, signedOutByOperator, newPassword, disabled, removed
    }

    @Test("H3: an upload URL ends with the session it was asked for in", arguments: Ending.allCases)
    func ended(ending: Ending) async throws {
        let api = try await TestAPI()
        let path = try await api.uploadPath("f", of: "r")
        let accounts = api.cloud.accounts
        switch ending {
        case .signedOut:
            let answer = try await api.send(
                "POST", api.target(under: "ext", "account/signOut"), "{}")
            #expect(answer.status == 200)
        case .signedOutByOperator: _ = try await accounts.signOut("me")
        case .newPassword: try await accounts.setPassword("a long secret", of: "me", cost: .least)
        case .disabled: _ = try await accounts.setDisabled(true, "me")
        case .removed: _ = try await accounts.remove(named: "me")
        }
        let answer = try await api.send("POST", path, "word")
        #expect(answer.status == 400)
        #expect(answer.error?.reason.contains("the upload URL is not valid") == true)
        #expect(try api.keptFiles().isEmpty)
    }

    @Test("H3: an upload URL goes on where another session ended, and with a token that is kept")
    func others() async throws {
        let api = try await TestAPI()
        let path = try await api.uploadPath("f", of: "r")
        let other = try await api.cloud.accounts.makeWebToken(for: "me")
        let ext = api.target(under: "ext", "account/signOut")
        let answer = try await api.send("POST", ext.replacing(api.webToken, with: other), "{}")
        #expect(answer.status == 200)
        try await api.cloud.accounts.setPassword(
            "a long secret", of: "me", keepsTokens: true, cost: .least)
        #expect(try await api.send("POST", path, "word").status == 200)
    }
}
