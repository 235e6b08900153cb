// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellServer
import TidebellWire
import TestSupport

@Suite("Authentication")
struct AuthenticationTests {
    @Test("A request without API token is AUTHENTICATION_FAILED (2.2)")
    func noAPIToken() async throws {
        let api = try await TestAPI()
        let answer = try await api.send(
            "GET", "/database/1/\(TestAPI.container)/development/private/zones/list"
        )
        #expect(answer.status == 401)
        #expect(
            answer.error
                == WireError(
                    .authenticationFailed,
                    "no auth method found: missing query parameter 'ckAPIToken'"
                )
        )
    }

    @Test("An unknown API token is AUTHENTICATION_FAILED and names the container (2.2)")
    func unknownAPIToken() async throws {
        let api = try await TestAPI()
        let answer = try await api.send(
            "GET", api.target("private/zones/list").replacing(api.apiToken, with: "nobody")
        )
        #expect(answer.status == 401)
        #expect(
            answer.error
                == WireError(
                    .authenticationFailed,
                    "the API token is not known for container 'iCloud.org.example.notes' "
                        + "(development)"
                )
        )
    }

    @Test("ENV-6: an API token for one container and environment is good there only")
    func tokenOfContainer() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.makeAPIToken(
            named: "one",
            for: ContainerKey(container: TestAPI.container, environment: .development)
        )
        let here = api.target("private/zones/list").replacing(api.apiToken, with: token)
        #expect(try await api.send("GET", here).status == 200)
        let production = here.replacing("/development/", with: "/production/")
        #expect(try await api.send("GET", production).status == 401)
        let elsewhere = here.replacing("example.notes", with: "example.other")
        #expect(try await api.send("GET", elsewhere).status == 401)
    }

    @Test("H8: made-up containers do not multiply what a user may have in each")
    func madeUpContainers() async throws {
        var limits = Limits()
        limits.containersPerAccount = 3
        let api = try await TestAPI(limits: limits)
        let here = api.target("private/zones/list")
        #expect(try await api.send("GET", here).status == 200)
        let production = here.replacing("/development/", with: "/production/")
        #expect(try await api.send("GET", production).status == 200)
        #expect(try await api.send("GET", here.replacing(".notes", with: ".a")).status == 200)
        let answer = try await api.send("GET", here.replacing(".notes", with: ".b"))
        #expect(answer.status == 400)
        #expect(
            answer.error?.reason
                == "container 'iCloud.org.example.b' (development) would be one more than the 3 of "
                + "the user (containersPerAccount)")
        // Who is there already goes on.
        #expect(try await api.send("GET", production).status == 200)
    }

    @Test(
        "Without user, private data needs one: 421 with redirectURL (10.10)",
        arguments: [
            ("GET", "private/zones/list"), ("POST", "private/records/modify"),
            ("POST", "shared/changes/database"), ("GET", "public/users/caller"),
            ("GET", "public/subscriptions/list"), ("POST", "public/records/modify"),
        ]
    )
    func needsUser(method: String, path: String) async throws {
        let api = try await TestAPI()
        let target = api.target(path).replacing("&ckWebAuthToken=\(api.webToken)", with: "")
        let answer = try await api.send(method, target, "{}", headers: ["Host": "tide.example"])
        #expect(answer.status == 421)
        #expect(
            answer.error
                == WireError(
                    .authenticationRequired, "request needs authorization",
                    redirectURL: "http://tide.example/sign-in?container=iCloud.org.example.notes"
                        + "&environment=development&ckAPIToken=\(api.apiToken)"
                )
        )
    }

    @Test("ACCT-3: without user, the public database can be read")
    func anonymousReads() async throws {
        let api = try await TestAPI()
        let target = api.target("public/records/lookup")
            .replacing("&ckWebAuthToken=\(api.webToken)", with: "")
        let answer = try await api.send("POST", target, #"{"records":[{"recordName":"no"}]}"#)
        #expect(answer.status == 200)
    }

    @Test("An unknown web token is 421, also where no user is needed (2.2)")
    func unknownWebToken() async throws {
        let api = try await TestAPI()
        for path in ["private/zones/list", "public/zones/list"] {
            let target = api.target(path).replacing(api.webToken, with: "nobody")
            #expect(try await api.send("GET", target).status == 421)
        }
    }

    @Test("A web token ends when its time is over (2.2)")
    func expiredWebToken() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.add(named: "short", tokenLifetime: .seconds(60))
        let target = api.target("private/zones/list").replacing(api.webToken, with: token)
        #expect(try await api.send("GET", target).status == 200)
        api.clock.advance(by: .seconds(61))
        #expect(try await api.send("GET", target).status == 421)
    }

    @Test("A removed user is refused when the memory of their call has faded")
    func removedUser() async throws {
        let api = try await TestAPI()
        #expect(try await api.get("private/zones/list").status == 200)
        try await api.cloud.accounts.remove(named: Accounts.firstUser)
        api.clock.advance(by: .seconds(5))
        #expect(try await api.get("private/zones/list").status == 421)
    }

    @Test("A token that was unknown a moment ago works as soon as it exists")
    func unknownIsNotRemembered() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.add(named: "twin")
        let twin = api.target("private/zones/list").replacing(api.webToken, with: token)
        try await api.cloud.accounts.remove(named: "twin")
        #expect(try await api.send("GET", twin).status == 421)
        let new = try await api.cloud.accounts.add(named: "twin")
        #expect(try await api.send("GET", twin.replacing(token, with: new)).status == 200)
    }

    @Test("ACCT-5: a user's record name is _ and 32 hex digits, of its own in each container")
    func recordNames() async throws {
        let api = try await TestAPI()
        let here = try await api.get("public/users/caller")
        #expect(here.text == #"{"userRecordName":"\#(api.user)"}"#)
        #expect(api.user.wholeMatch(of: /_[0-9a-f]{32}/) != nil)
        let again = try await api.post("public/users/current", "{}")
        #expect(again.text == here.text)
        let elsewhere = try await api.send(
            "GET", api.target("public/users/caller").replacing("example.notes", with: "other")
        )
        #expect(elsewhere.status == 200)
        #expect(elsewhere.text != here.text)
    }

    @Test("Tokens are percent-decoded exactly once (1.3)")
    func percentEncoding() async throws {
        let api = try await TestAPI()
        let encoded = api.webToken.utf8.map { byte in
            let hex = String(byte, radix: 16, uppercase: true)
            return "%" + (hex.count == 1 ? "0" + hex : hex)
        }.joined()
        let once = api.target("private/zones/list").replacing(api.webToken, with: encoded)
        #expect(try await api.send("GET", once).status == 200)
        let twice = once.replacing("%", with: "%25")
        #expect(try await api.send("GET", twice).status == 421)
    }
}
