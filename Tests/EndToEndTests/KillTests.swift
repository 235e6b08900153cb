// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What a server owes its users when it is killed at any moment.
@Suite(.hangs) struct KillTests {
    /// How often the server is killed: 20 times in the suite, more in `Scripts/test-kills`.
    private static let kills =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_KILLS"].flatMap { Int($0) } ?? 20

    @Test(
        "PUSH-14: after kills under load every acknowledged write is there, once, and was notified once"
    )
    func nothingIsLost() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let scene = try await KillScene(
            program: program, seed: seed,
            uploads: program.dataFolder.appendingPathComponent("to-upload")
        )
        let last = try await scene.play(server, times: Self.kills) { server in
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            return try await program.serve()
        }
        try await scene.check()
        last.signal(SIGTERM)
        #expect(await last.waitUntilExit() == 0)
    }

    @Test("an acknowledged write that is not there is seen, so the test above can fail")
    func control() async throws {
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let scene = try await KillScene(
            program: program, seed: 1,
            uploads: program.dataFolder.appendingPathComponent("to-upload"), addsUsers: false
        )
        try await scene.write(20) {}
        #expect(try await scene.lost() == [])
        let lost = try await scene.loseOne()
        #expect(try await scene.lost() == [lost])
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }
}
