// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellProcesses

/// What a server owes its users when it is killed at any moment.
struct KillTests {
    private static let kills = 50
    private static let writers = 4
    private static let subscribers = 2

    @Test(
        "PUSH-14: after 50 kills under four writers every acknowledged save is there and was told"
    )
    func nothingIsLost() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        let program = try Built.tidebell()
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        let devices = home.devices(Self.subscribers)
        for device in devices { try await device.watch() }

        let writers = home.writers(Self.writers)
        let last = try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, writer) in writers.enumerated() {
                group.addTask { await writer.write(seed: seed &+ UInt64(index)) }
            }
            let last = try await Self.kill(server, of: program, seed: seed)
            for writer in writers { await writer.stop() }
            try await group.waitForAll()
            return last
        }
        #expect(last.processID > 0)

        let truth = try await home.everything()
        var acknowledged = 0
        for writer in writers {
            for (name, value) in await writer.certain {
                acknowledged += 1
                #expect(truth[name] == value, "record \(name) after an acknowledged write")
            }
        }
        print("\(acknowledged) acknowledged records, \(truth.count) on the server")
        #expect(acknowledged > 0)
        for device in devices { try await device.wait(for: truth) }
        last.signal(SIGTERM)
        #expect(await last.waitUntilExit() == 0)
    }

    /// Kills the server at random moments and starts it again; returns the last.
    private static func kill(
        _ server: ChildProcess, of program: TidebellProgram, seed: UInt64
    ) async throws -> ChildProcess {
        var random = SeededRandom(seed: seed)
        var server = server
        for _ in 0..<kills {
            // NB: the one place where a test sleeps: a kill needs a moment.
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...200, using: &random)))
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            server = try await program.serve()
        }
        return server
    }
}

/// A repeatable source of random numbers (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
