// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

@Suite("Push tokens that another account takes over", .hangs)
struct TakenTokenTests {
    @Test("H5: a courier's URL that another account knows stays ended, whoever registers at once")
    func registeredTwiceAtOnce() async throws {
        let api = try await TestAPI()
        let created = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=page",
            #"{"apnsEnvironment":"development"}"#
        )
        let before = try token(in: created.text)
        let ben = try await api.cloud.accounts.add(named: "ben")
        let meeting = MeetingStore(api.cloud.store)
        var cloud = api.cloud.webServices.cloud
        cloud.store = meeting
        let services = WebServices(cloud: cloud)
        let containers = [TestAPI.container, "iCloud.org.example.other"]
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws
            -> String
        {
            let response = await services.respond(
                to: WebRequest(
                    method,
                    "\(path)?ckAPIToken=\(api.apiToken)&ckWebAuthToken=\(ben)&clientId=bens",
                    body: .bytes(Array(body.utf8))
                )
            )
            #expect(response.status == 200)
            return String(decoding: try await response.body.collect(), as: UTF8.self)
        }
        for container in containers {
            _ = try await send(.get, "/database/1/\(container)/development/private/zones/list", "")
        }
        // Both have read what there is before one of them changes it.
        meeting.meet(containers.count)
        let body = #"{"apnsEnvironment":"development","apnsToken":"\#(before.text)"}"#
        let after = try await withThrowingTaskGroup(of: String.self) { group in
            for container in containers {
                group.addTask {
                    try await send(
                        .post, "/device/1/\(container)/development/tokens/register", body)
                }
            }
            return try await group.reduce(into: []) { $0.append(try token(in: $1).courier) }
        }
        #expect(Set(after).count == 1 && after[0] != before.courier)
        let now = api.clock.instant
        try await api.cloud.store.read { reader throws in
            #expect(try reader.pushToken(courier: before.courier, at: now) == nil)
            #expect(try reader.pushToken(courier: after[0], at: now)?.devices.count == 2)
        }
    }

    private func token(in answer: String) throws -> (text: String, courier: String) {
        let match = try #require(
            answer.firstMatch(of: /"apnsToken":"([0-9a-f]+)".*\/courier\/([0-9a-f]+)/))
        return (String(match.output.1), String(match.output.2))
    }
}
