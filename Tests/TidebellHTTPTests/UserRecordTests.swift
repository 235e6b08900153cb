// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire
import TestSupport
import TidebellServer
import TidebellScheduling

@Suite("The records of users")
struct UserRecordTests {
    private let api: TestAPI

    init() async throws {
        api = try await TestAPI()
    }

    private func lookUp(_ scope: String, _ name: String) async throws -> TestAPI.Answer {
        try await api.post("\(scope)/records/lookup", #"{"records":[{"recordName":"\#(name)"}]}"#)
    }

    private func modify(
        _ scope: String, _ type: String, _ name: String, tag: String, webToken: String? = nil
    ) async throws -> TestAPI.Answer {
        let target = api.target("\(scope)/records/modify")
            .replacing(api.webToken, with: webToken ?? api.webToken)
        return try await api.send(
            "POST", target,
            """
            {"operations":[{"operationType":"\(type)","record":{"recordName":"\(name)",\
            "recordType":"Users","recordChangeTag":"\(tag)","fields":{"color":{"value":"red"}}}}]}
            """
        )
    }

    @Test("ACCT-5: a user has a record in the private and in the public database from the start")
    func existsFromTheStart() async throws {
        for scope in ["private", "public"] {
            let answer = try await lookUp(scope, api.user)
            #expect(answer.text.contains(#""recordType":"Users""#))
            #expect(answer.text.contains(#""recordChangeTag":"0""#))
        }
        #expect(try await lookUp("private", "_nobody").text.contains("NOT_FOUND"))
        #expect(try await lookUp("public", "_nobody").text.contains("NOT_FOUND"))
    }

    @Test("ACCT-5: a user's record was made at the user's first access to the container")
    func created() async throws {
        let made = #""created":{"timestamp":\#(TestAPI.start.rawValue),"#
        for scope in ["private", "public"] {
            api.clock.advance(by: .seconds(60))
            #expect(try await lookUp(scope, api.user).text.contains(made))
            _ = try await modify(scope, "update", api.user, tag: "0")
            #expect(try await lookUp(scope, api.user).text.contains(made), "also once saved")
        }
    }

    @Test("ACCT-5: a user saves fields of their record, by the usual policies")
    func savesFields() async throws {
        for scope in ["private", "public"] {
            let saved = try await modify(scope, "update", api.user, tag: "0")
            #expect(saved.text.contains(#""color":{"value":"red""#))
            let stale = try await modify(scope, "update", api.user, tag: "0")
            #expect(stale.text.contains("CONFLICT"))
            #expect(try await lookUp(scope, api.user).text.contains(#""color":{"value":"red""#))
        }
    }

    @Test("ACCT-7: another user reads the public one, and changes neither")
    func others() async throws {
        let token = try await api.cloud.accounts.add(named: "ben")
        let caller = try await api.send(
            "GET", api.target("public/users/caller").replacing(api.webToken, with: token)
        )
        let ben = try JSONReader.read(Array(caller.text.utf8)) { try CallerResponse(from: &$0) }
        #expect(try await lookUp("public", ben.userRecordName).text.contains("Users"))
        #expect(try await lookUp("private", ben.userRecordName).text.contains("NOT_FOUND"))
        let denied = try await modify("public", "forceUpdate", api.user, tag: "0", webToken: token)
        #expect(denied.text.contains("ACCESS_DENIED"))
        let unknown = try await modify("private", "forceUpdate", ben.userRecordName, tag: "0")
        #expect(unknown.text.contains("BAD_REQUEST"))
    }

    @Test("ACCT-5: the record of a user is neither created nor deleted")
    func systemRecord() async throws {
        let deleted = try await modify("private", "forceDelete", api.user, tag: "0")
        #expect(deleted.text.contains("ACCESS_DENIED"))
        let created = try await modify("private", "create", api.user, tag: "0")
        #expect(created.text.contains("EXISTS"))
        let other = try await modify("private", "create", "mine", tag: "0")
        #expect(other.text.contains("ACCESS_DENIED"))
    }
}
