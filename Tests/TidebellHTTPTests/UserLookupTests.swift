// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

@Suite("Users are looked up") struct UserLookupTests {
    @Test("SHARE-22: users/lookup/id finds users by record name, and nobody else")
    func byRecordName() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "public/users/lookup/id",
            #"{"users":[{"userRecordName":"_nobody"},{"userRecordName":"\#(api.user)"}]}"#)
        #expect(answer.text == #"{"users":[{"userRecordName":"\#(api.user)"}]}"#)
        let elsewhere = try await api.post("private/users/lookup/id", #"{"users":[]}"#)
        #expect(elsewhere.status == 400)
        let damaged = try await api.post("public/users/lookup/id", #"{"users":[{}]}"#)
        #expect(damaged.error?.reason.contains("userRecordName") == true, "\(damaged.text)")
        let many = Array(repeating: #"{"userRecordName":"a"}"#, count: 201)
            .joined(separator: ",")
        let tooMany = try await api.post("public/users/lookup/id", #"{"users":[\#(many)]}"#)
        #expect(tooMany.error?.reason.contains("201 items") == true, "\(tooMany.text)")
    }

    @Test("ACCT-6: users/discover finds who permitted it, and says by what")
    func discover() async throws {
        let api = try await TestAPI()
        let body = """
            {"lookupInfos":[{"userRecordName":"\(api.user)"},{"emailAddress":"a@example.org"},\
            {"phoneNumber":"+491701234567"}]}
            """
        #expect(try await api.post("public/users/discover", body).text == #"{"users":[]}"#)
        for (action, isFound) in [("grant", true), ("deny", false)] {
            let path =
                "/ext/1/\(TestAPI.container)/development/account/permission"
                + api.target("public/users/caller").drop { $0 != "?" }
            _ = try await api.send(
                "POST", path, #"{"permission":"userDiscoverability","action":"\#(action)"}"#)
            let found = """
                {"userRecordName":"\(api.user)","lookupInfo":{"userRecordName":"\(api.user)"}}
                """
            #expect(
                try await api.post("public/users/discover", body).text
                    == #"{"users":[\#(isFound ? found : "")]}"#)
        }
    }

    @Test("ACCT-6: an e-mail address finds a user who permitted it, where verified")
    func byEmail() async throws {
        let api = try await TestAPI()
        let accounts = api.cloud.accounts
        _ = try await accounts.addAddress("Me@Example.org", of: "me", isVerified: false)
        let path =
            "/ext/1/\(TestAPI.container)/development/account/permission"
            + api.target("public/users/caller").drop { $0 != "?" }
        func answers() async throws -> [String] {
            [
                try await api.post(
                    "public/users/lookup/email",
                    #"{"users":[{"emailAddress":"ME@example.org"},{"emailAddress":"x@y"}]}"#
                ).text,
                try await api.post(
                    "public/users/discover", #"{"lookupInfos":[{"emailAddress":"ME@example.org"}]}"#
                ).text,
            ]
        }
        let nobody = Array(repeating: #"{"users":[]}"#, count: 2)
        _ = try await api.send(
            "POST", path, #"{"permission":"userDiscoverability","action":"grant"}"#)
        #expect(try await answers() == nobody)
        _ = try await accounts.addAddress("me@example.org", of: "me")
        #expect(
            try await answers() == [
                #"{"users":[{"userRecordName":"\#(api.user)","emailAddress":"ME@example.org"}]}"#,
                """
                {"users":[{"userRecordName":"\(api.user)",\
                "lookupInfo":{"emailAddress":"ME@example.org"}}]}
                """,
            ])
        _ = try await api.send(
            "POST", path, #"{"permission":"userDiscoverability","action":"deny"}"#)
        #expect(try await answers() == nobody)
        // The server knows nobody's contacts.
        for path in ["public/users/lookup/contacts", "public/users/discover"] {
            let answer = try await api.send("GET", api.target(path))
            #expect(answer.status == 200 && answer.text == #"{"users":[]}"#)
        }
    }
}
