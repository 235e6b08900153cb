// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What three nodes owe their users, together, when they and their database fail at any moment.
@Suite(
    "Nodes that fail", .hangs(minutes: NodeGroup.minutes),
    .enabled(
        if: NodeGroup.store != nil,
        "Scripts/with-postgres and Scripts/with-patroni give a database"))
struct NodeKillTests {
    @Test(
        "PUSH-13, PUSH-14: whatever node fails, every acknowledged write is there, once, and was notified once"
    )
    func nothingIsLost() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let plan = NodeGroup.plan(using: &random)
        let nodes = try await NodeGroup.start(appleDevices: 3)
        let scene = try await KillScene(
            program: nodes.cloud, seed: seed,
            uploads: nodes.cloud.dataFolder.appendingPathComponent("to-upload"), writers: 8,
            devices: ["phone", "pad", "laptop"], nodes: nodes.nodes, apple: nodes.apple)
        var faults = plan.makeIterator()
        let last = try await scene.play(nodes, times: plan.count) { nodes in
            guard let (fault, name) = faults.next() else { return nodes }
            return try await nodes.failing(fault, of: name)
        }
        try await scene.check()
        print(Dictionary(grouping: plan) { $0.fault }.mapValues(\.count))
        try await last.endWithLife()
    }
}
