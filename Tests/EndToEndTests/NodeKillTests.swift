// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What three nodes owe their users, together, when one after the other fails at any moment.
@Suite(
    "Nodes that fail", .hangs,
    .enabled(
        if: NodeGroup.store != nil,
        "Scripts/with-postgres and Scripts/with-patroni give a database"))
struct NodeKillTests {
    /// How often a node fails: 12 times unless `TIDEBELL_TEST_NODE_FAULTS` says otherwise.
    private static let faults = number("TIDEBELL_TEST_NODE_FAULTS") ?? 12
    /// For how many seconds a node stands still: leases of others last 30, so more than that has them taken over.
    private static let freeze = Duration.seconds(number("TIDEBELL_TEST_FREEZE") ?? 4)

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(
        "PUSH-14: whatever node fails, every acknowledged write is there, once, and was notified once"
    )
    func nothingIsLost() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let kinds = NodeGroup.faults
        var plan = (0..<Self.faults).map { kinds[$0 % kinds.count] }
        plan.shuffle(using: &random)
        let names = plan.map { _ in NodeGroup.names.randomElement(using: &random) ?? "a" }
        let nodes = try await NodeGroup.start()
        let scene = try await KillScene(
            program: nodes.cloud, seed: seed,
            uploads: nodes.cloud.dataFolder.appendingPathComponent("to-upload"))
        var faults = zip(plan, names).makeIterator()
        let last = try await scene.play(nodes, times: Self.faults) { nodes in
            guard let (fault, name) = faults.next() else { return nodes }
            return try await nodes.failing(fault, of: name, for: Self.freeze)
        }
        try await scene.check()
        try await last.endWithLife()
    }
}
