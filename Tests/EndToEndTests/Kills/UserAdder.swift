// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellProcesses

/// An operator who adds users beside the running server, and is killed while doing so.
final class UserAdder: Sendable {
    private struct State {
        var tokens: [String: String] = [:]
        var runs = 0
        var kills = 0
    }

    private let program: TidebellProgram
    private let ledger: Ledger
    private let state = Mutex(State())

    /// Creates one who pauses when the ledger says so.
    init(program: TidebellProgram, ledger: Ledger) {
        self.program = program
        self.ledger = ledger
    }

    var tokens: Int { state.withLock(\.tokens.count) }
    var kills: Int { state.withLock(\.kills) }

    /// Adds users until the task is cancelled.
    func add(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        while !Task.isCancelled {
            await ledger.pace()
            let number = state.withLock { state in
                state.runs += 1
                return state.runs
            }
            let child = try ChildProcess(
                program.executable,
                ["user", "add", "cli-\(number)", "--data", program.dataFolder.path],
                mergesErrors: true
            )
            let isKilled = Bool.random(using: &random)
            let moment = Int.random(in: 20...300, using: &random)
            let killer = Task {
                guard isKilled else { return }
                try? await Task.sleep(for: .milliseconds(moment))
                child.signal(SIGKILL)
            }
            var lines: [String] = []
            for await line in child.lines { lines.append(line) }
            let status = await child.waitUntilExit()
            killer.cancel()
            state.withLock { state in
                if status == SIGKILL { state.kills += 1 }
                state.tokens["cli-\(number)"] = TidebellProgram.token(in: lines)
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Every token that was printed is one that works.
    func check(as device: (_ webAuthToken: String) -> WireDevice) async throws {
        for (name, token) in state.withLock(\.tokens) {
            #expect(try await device(token).statusOfCaller() == 200, "the token of \(name)")
        }
    }
}
