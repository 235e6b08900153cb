// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellProcesses

/// Webhooks on the command line.
struct WebhookCommandTests {
    @Test("tidebell webhook adds with a secret shown once, lists and removes, also while it serves")
    func webhooks() async throws {
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let url = "https://receiver.example/hook"
        let added = try await program.run(["webhook", "add", Household.container, url])
        #expect(added.contains { $0.contains("whsec_") })
        let listed = try await program.run(["webhook", "list"])
        #expect(listed == ["1  \(Household.container) development  \(url)  up to date"])
        #expect(!listed.contains { $0.contains("whsec_") })
        #expect(try await program.run(["webhook", "remove", "1"]) == ["Removed webhook 1."])
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
