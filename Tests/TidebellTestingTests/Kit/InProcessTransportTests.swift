// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing

@testable import TidebellTesting

@Suite("The way to a cloud of the same process", .hangs)
struct InProcessTransportTests {
    @Test("a method that HTTP cannot carry is an error; one that no endpoint has is refused")
    func methods() async throws {
        let cloud = try await TestCloud(container: "iCloud.org.example.notes")
        let server = try cloud.state.server()
        func status(_ method: String) async throws -> Int {
            try await server.send(
                TransportRequest(method: method, path: "/health"), timeout: .seconds(60)
            ).status
        }
        #expect(try await status("GET") == 200)
        #expect(try await status("BREW") == 405)
        for method in ["", "GET /", "G\u{CB}T"] {
            await #expect(throws: MalformedMethod.self) { try await status(method) }
        }
    }
}
