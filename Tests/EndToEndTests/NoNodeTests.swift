// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What clients get from the load balancer while no node is ready.
@Suite("No node behind HAProxy", .hangs)
struct NoNodeTests {
    private struct Refusal: Decodable, Hashable {
        var serverErrorCode: String
        var reason: String
        var retryAfter: Double
    }

    @Test(
        "ERR-51: HAProxy answers as a node does that cannot reach its database, with when to try again"
    )
    func refusal() async throws {
        let cloud = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: cloud.dataFolder) }
        var ports: [String: Int] = [:]
        for name in NodeGroup.names { ports[name] = try LoopbackPort.free() }
        let proxy = try await NodeGroup.startProxy(cloud, for: ports)
        defer { proxy.signal(SIGKILL) }
        let server = try #require(URL(string: cloud.address))
        let answer = try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(
                method: "POST", path: "/database/1/c/development/private/records/modify",
                headers: [("Content-Type", "application/json")], body: Array("{}".utf8)),
            timeout: .patience)
        #expect(answer.status == 503)
        #expect(answer.header("Retry-After") == "2")
        #expect(answer.header("Content-Type") == "application/json")
        let refusal = try JSONDecoder().decode(Refusal.self, from: Data(answer.body))
        #expect(
            refusal
                == Refusal(
                    serverErrorCode: "TRY_AGAIN_LATER",
                    reason: "no server of this cloud is ready; try again later", retryAfter: 2))
    }
}
