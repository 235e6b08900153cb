// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire
import TidebellServer

@Suite("What records reveal of the devices that wrote them")
struct DeviceNameTests {
    private func deviceID(_ api: TestAPI, clientID: String) async throws -> String {
        let answer = try await api.post(
            "public/records/modify",
            """
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"n1",\
            "recordType":"Note","fields":{}}}]}
            """,
            query: "&clientId=\(clientID)"
        )
        #expect(!answer.text.contains(clientID))
        let match = try #require(
            answer.text.firstMatch(of: /"modified":\{[^}]*"deviceID":"([^"]+)"/))
        return String(match.output.1)
    }

    @Test("A record distinguishes its devices, and has no client ID, which is a device's secret")
    func hidden() async throws {
        let api = try await TestAPI()
        let phone = try await deviceID(api, clientID: "client-of-the-phone")
        let pad = try await deviceID(api, clientID: "client-of-the-pad")
        #expect(phone != pad)
        #expect(try await deviceID(api, clientID: "client-of-the-phone") == phone)
    }

    @Test("SUB-51: what a record reveals of a device does not let another user take it over")
    func takeover() async throws {
        let api = try await TestAPI()
        let shown = try await deviceID(api, clientID: "client-of-the-phone")
        _ = try await api.post(
            "public/tokens/create", #"{"apnsEnvironment":"development"}"#,
            query: "&clientId=client-of-the-phone"
        )
        let other = try await api.cloud.accounts.add(named: "ben")
        let answer = try await api.send(
            "POST",
            api.target("public/tokens/create").replacing(api.webToken, with: other)
                + "&clientId=\(shown)",
            #"{"apnsEnvironment":"development"}"#
        )
        #expect(answer.status == 200)
        let devices = try await api.cloud.store.read { [user = api.user] reader in
            let container = ContainerKey(container: TestAPI.container, environment: .development)
            return try reader.user(recordName: user, in: container).map {
                try reader.devices(of: $0.id).map(\.clientID)
            }
        }
        #expect(devices == ["client-of-the-phone"])
    }
}
