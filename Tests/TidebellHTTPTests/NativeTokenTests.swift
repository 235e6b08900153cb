// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import HTTPTypes
import TidebellServer
import TestSupport

@Suite("Native push tokens")
struct NativeTokenTests {
    private func register(
        _ api: TestAPI, _ members: String, clientID: String = "phone"
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "POST", api.target(under: "device", "tokens/register"),
            #"{"apnsEnvironment":"development","clientId":"\#(clientID)",\#(members)}"#
        )
    }

    /// The targets of the cloud, by token, with what was registered.
    private func target(_ token: String, _ api: TestAPI) async throws -> PushTarget? {
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        let user = api.user
        return try await api.cloud.store.read { reader in
            let account = try #require(try reader.account(named: "me"))
            let caller = try #require(try reader.user(of: account, in: container))
            #expect(caller.recordName == user)
            return try reader.devices(of: caller.id).compactMap { device in
                try reader.pushTarget(
                    PushTargetKey(token: token, device: device.key), at: TestAPI.start
                )
            }.first
        }
    }

    @Test(
        "SUB-50: hexadecimal digits of any even number are Apple's",
        arguments: [
            "ab", "00FF", String(repeating: "0f", count: 32), String(repeating: "0f", count: 100),
        ])
    func accepted(token: String) async throws {
        let api = try await TestAPI()
        #expect(try await register(api, #""apnsToken":"\#(token)""#).status == 200)
        let target = try #require(try await target(token, api))
        #expect(target.clientID == "phone" && target.registeredAt == TestAPI.start)
    }

    @Test(
        "what can be no token of Apple's is refused",
        arguments: [
            "xyz", "abc", "0f 0f", "../../3", "Ā0", "12/3",
        ])
    func refused(token: String) async throws {
        let api = try await TestAPI()
        let answer = try await register(api, #""apnsToken":"\#(token)""#)
        #expect(answer.status == 400)
        #expect(answer.error?.reason.contains("apnsToken must be one") == true)
    }

    @Test("PUSH-11: a token may name the app's bundle ID; what is none is refused")
    func topics() async throws {
        let api = try await TestAPI()
        let named = try await register(api, #""apnsToken":"ab","topic":"org.example.app""#)
        #expect(named.status == 200)
        #expect(try await target("ab", api)?.topic == "org.example.app")
        for topic in ["", "two words", "a\\nb", String(repeating: "x", count: 256)] {
            let answer = try await register(api, #""apnsToken":"ab","topic":"\#(topic)""#)
            #expect(answer.status == 400, "\(topic)")
            #expect(answer.error?.reason.contains("bundle ID") == true)
        }
    }

    @Test("A topic other than the container's is refused where pushes are sent, and names it")
    func otherTopic() async throws {
        let api = try await TestAPI()
        var cloud = api.cloud.webServices.cloud
        cloud.topic = { $0.container == TestAPI.container ? "org.example.app" : nil }
        let services = WebServices(cloud: cloud)
        func register(_ topic: String) async throws -> (status: Int, text: String) {
            let response = await services.respond(
                to: WebRequest(
                    .post, api.target(under: "device", "tokens/register") + "&clientId=phone",
                    body: .bytes(
                        Array(
                            #"{"apnsEnvironment":"development","apnsToken":"ab","topic":"\#(topic)"}"#
                                .utf8
                        )
                    )
                )
            )
            return (
                response.status, String(decoding: try await response.body.collect(), as: UTF8.self)
            )
        }
        let refused = try await register("org.example.other")
        #expect(refused.status == 400 && refused.text.contains("'org.example.app'"))
        #expect(try await target("ab", api) == nil)
        #expect(try await register("org.example.app").status == 200)
        #expect(try await target("ab", api)?.topic == "org.example.app")
    }

    @Test("SUB-50: a user has 200 tokens; one more replaces the oldest")
    func limit() async throws {
        var limits = Limits()
        #expect(limits.pushTokensPerUser == 200)
        limits.pushTokensPerUser = 3
        let api = try await TestAPI(limits: limits)
        for (number, token) in ["aa", "bb", "cc", "dd"].enumerated() {
            #expect(
                try await register(
                    api, #""apnsToken":"\#(token)""#, clientID: "phone-\(number)"
                ).status == 200
            )
            api.clock.advance(by: .seconds(1))
        }
        #expect(try await target("aa", api) == nil)
        #expect(try await target("bb", api) != nil)
        #expect(try await target("dd", api) != nil)
    }
}
