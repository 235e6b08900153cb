// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire
import HTTPTypes
import TidebellPush

@Suite("/admin/1/…/push/explain", .hangs)
struct ExplainPushTests {
    private static let path = "/admin/1/\(TestAPI.container)/development/push/explain"

    /// A cloud whose user was notified of a note, and a management token for it.
    private func api(limits: Limits = Limits()) async throws -> (TestAPI, token: String) {
        let api = try await TestAPI(limits: limits)
        try await api.makeZone("Notes")
        try await api.subscribe(to: "Notes")
        // Notifications are made for users who have a device.
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#
        )
        _ = try await api.cloud.pipeline.drain()
        try await api.save("n1", in: "Notes")
        _ = try await api.cloud.pipeline.drain()
        return (api, try await api.cloud.accounts.makeAdminToken(named: "test"))
    }

    private func explain(
        _ query: String = "", in api: TestAPI, token: String, method: String = "GET"
    ) async throws -> TestAPI.Answer {
        try await api.send(
            method, Self.path + query, "", headers: ["Authorization": "Bearer \(token)"]
        )
    }

    @Test("The whole tree as JSON, by GET and by POST")
    func tree() async throws {
        let (api, token) = try await api()
        let answer = try await explain("?record=n1&zone=Notes", in: api, token: token)
        #expect(answer.status == 200)
        let posted = try await explain("?record=n1", in: api, token: token, method: "POST")
        #expect(posted.text == answer.text)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        )
        let change = try #require((json["changes"] as? [[String: Any]])?.first)
        #expect(change["container"] as? String == TestAPI.container)
        #expect(change["environment"] as? String == "development")
        #expect(change["database"] as? String == "private")
        #expect(change["owner"] as? String == "me")
        #expect(change["zoneName"] as? String == "Notes")
        #expect(change["event"] as? String == "records")
        #expect(change["isTold"] as? Bool == true)
        let subscription = try #require((change["subscriptions"] as? [[String: Any]])?.first)
        #expect(subscription["outcome"] as? String == "told")
        #expect(subscription["rule"] as? String == "SUB-53")
        let notification = try #require(
            (subscription["notifications"] as? [[String: Any]])?.first
        )
        #expect(notification["pushType"] as? String == "background")
        #expect((json["hints"] as? [String]) == [])
    }

    @Test("What routes did a moment ago is there, without waiting for the journal")
    func deliveries() async throws {
        let (api, token) = try await api()
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        let user = try await api.cloud.store.read { reader throws in
            let account = try #require(try reader.account(named: "me"))
            return try #require(try reader.user(of: account, in: container)).id
        }
        api.cloud.journal.record(
            Delivery(
                notification: try await api.cloud.store.read { try $0.notificationHead(of: user) },
                user: user, clientID: "gone", route: .apns, at: TestAPI.start,
                answer: "410 Unregistered"
            )
        )
        let answer = try await explain(in: api, token: token)
        #expect(answer.text.contains(#""clientID":"gone""#))
        #expect(answer.text.contains(#""answer":"410 Unregistered""#))
    }

    @Test("PUSH-13: what a stream wrote and what its device acknowledged is explained")
    func stream() async throws {
        let (api, token) = try await api()
        let stream = api.target(under: "ext", "notifications/stream") + "&clientId=phone"
        var pieces = Pieces(await api.cloud.respond(.get, stream))
        _ = try await pieces.next()
        try await api.save("n2", in: "Notes")
        _ = try await api.cloud.pipeline.drain()
        let number = try #require(try await api.logNumbers().last)
        #expect(try await pieces.next()?.hasPrefix("id: \(number)\n") == true)
        #expect(await eventually { api.cloud.journal.waitingCount == 1 })
        for _ in 1...2 {
            let acknowledged = try await api.send(
                "POST", api.target(under: "ext", "notifications/ack") + "&clientId=phone",
                #"{"cursor":"\#(number)"}"#
            )
            #expect(acknowledged.status == 200)
        }
        #expect(
            try await deliveries(of: "n2", in: api, token) == [
                "stream sent", "stream acknowledged",
            ])
    }

    @Test("web-services 5.12: what a courier's poll answered is explained")
    func courier() async throws {
        let (api, token) = try await api()
        let created = try await api.send(
            "POST", api.target(under: "device", "tokens/create"),
            #"{"apnsEnvironment":"development","clientId":"page"}"#
        )
        let courier = try #require(created.text.firstMatch(of: /\/courier\/[0-9a-f]{64}/)).output
        try await api.save("n2", in: "Notes")
        _ = try await api.cloud.pipeline.drain()
        #expect(try await api.send("GET", String(courier)).text.contains(#""zid":"Notes""#))
        #expect(try await deliveries(of: "n2", in: api, token) == ["courier sent"])
    }

    /// The deliveries of a record to the only device.
    private func deliveries(
        of record: String, in api: TestAPI, _ token: String
    ) async throws -> [String] {
        let answer = try await explain("?record=\(record)", in: api, token: token)
        return answer.text.matches(of: /"route":"(\w+)","clientID":"\w+","at":\d+,"answer":"(\w+)"/)
            .map { "\($0.output.1) \($0.output.2)" }
    }

    @Test("What is not found comes with hints")
    func hints() async throws {
        let (api, token) = try await api()
        let answer = try await explain("?user=ben", in: api, token: token)
        #expect(
            answer.text == #"{"changes":[],"hints":["There is no user 'ben'. There are: me."]}"#
        )
    }

    @Test("Without a known management token the answer is 401 and explains how to get one")
    func unauthorized() async throws {
        let (api, token) = try await api()
        func reason(_ headers: [String: String]) async throws -> String? {
            let answer = try await api.send("GET", Self.path, "", headers: headers)
            #expect(answer.status == 401)
            #expect(answer.error?.code == .authenticationFailed)
            return answer.error?.reason
        }
        func sentence(_ why: String) -> String {
            "the request is not the operator's: \(why); "
                + "make one with `tidebell admin-token create`"
        }
        #expect(
            try await reason([:]) == sentence("it has no header 'Authorization: Bearer TOKEN'")
        )
        let malformed = sentence("its header 'Authorization' is not 'Bearer TOKEN'")
        for header in ["", "Bearer", "Basic \(token)", "Bearer a b"] {
            #expect(try await reason(["Authorization": header]) == malformed)
        }
        let unknown = sentence("its management token is not known")
        for other in ["x", token.uppercased(), api.apiToken, api.webToken] {
            #expect(try await reason(["Authorization": "Bearer \(other)"]) == unknown)
        }
        #expect(
            try await api.send("GET", Self.path, "", headers: ["Authorization": "bearer  \(token)"])
                .status == 200
        )
    }

    @Test("A bad question names the culprit")
    func badRequests() async throws {
        let (api, token) = try await api()
        for (query, culprit) in [
            ("?last=0", "last '0' must be 1 to 100"), ("?last=x", "last 'x' must be 1 to 100"),
            ("?last=101", "last '101' must be 1 to 100"),
            ("?database=mine", "unknown database 'mine'"),
        ] {
            let answer = try await explain(query, in: api, token: token)
            #expect(answer.status == 400)
            #expect(answer.error?.reason.contains(culprit) == true, "\(answer.text)")
        }
        let headers = ["Authorization": "Bearer \(token)"]
        let unknown = try await api.send(
            "GET", Self.path + "s", "", headers: headers
        )
        #expect(unknown.status == 404)
        let method = try await explain(in: api, token: token, method: "DELETE")
        #expect(method.status == 405)
    }

    @Test("Where nothing is kept, nothing is written, and the answer states that")
    func off() async throws {
        var limits = Limits()
        limits.explanationRetention = .zero
        let (api, token) = try await api(limits: limits)
        let answer = try await explain("?record=none", in: api, token: token)
        #expect(answer.text.contains("No changes are kept"))
    }

    @Test("Explanations go when their time is over")
    func retention() async throws {
        let (api, token) = try await api()
        func isKept() async throws -> Bool {
            try await explain(in: api, token: token).text.contains("\"change\":")
        }
        for case let maintenance as Maintenance in api.cloud.services {
            await maintenance.round()
            #expect(try await isKept())
            api.clock.advance(by: Limits().explanationRetention + .seconds(1))
            await maintenance.round()
            #expect(try await !isKept())
        }
    }
}
