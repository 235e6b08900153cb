// SPDX-License-Identifier: Apache-2.0
import QueueSimulation
import TestSupport
import Testing

/// A violation is one of: an entry that two held before the first one's lease ended, changes of a database out of
/// order, a lease without an end, a change that is not delivered.
@Suite("A queue that many nodes share", .hangs)
struct QueueSimulationTests {
    private static func settings(
        _ kind: QueueKind, seed: UInt64, nodes: Int = 24
    ) -> SimulationSettings {
        var settings = SimulationSettings()
        settings.seed = seed
        settings.kind = kind
        settings.nodes = nodes
        settings.duration = .seconds(20)
        settings.load.commitsPerSecond = 2
        settings.load.databasesPerNode = 20
        settings.faults.killed = 0.15
        settings.faults.frozen = 0.15
        settings.faults.failing = 0.05
        return settings
    }

    @Test(
        "Whatever dies, stands still or is not heard: all is delivered, in order, and held by one at a time",
        arguments: zip([QueueKind.matching, .webhook, .pushTokens], [1, 2, 3] as [UInt64]))
    func invariants(kind: QueueKind, seed: UInt64) {
        let report = QueueSimulation.run(Self.settings(kind, seed: seed))
        #expect(report.violations == [], "\(kind.name), seed \(seed)")
        #expect(report.undelivered == 0)
        #expect(report.ordinary.count + report.hot.count == report.changes)
        #expect(report.changes > 700)
        // The faults happened.
        #expect(report.failedPasses > 0)
    }

    @Test("What a node held that was killed is delivered when its lease has ended")
    func deaths() {
        var settings = Self.settings(.matching, seed: 3)
        settings.faults.killed = 1
        settings.faults.frozen = 0
        let report = QueueSimulation.run(settings)
        #expect(report.violations == [])
        let latest = report.ordinary.percentiles([1])[0]
        #expect(latest > 20_000 && latest < 60_000)
    }

    @Test("A seed decides all that happens")
    func seeds() {
        let settings = Self.settings(.matching, seed: 4, nodes: 8)
        let (first, second) = (QueueSimulation.run(settings), QueueSimulation.run(settings))
        #expect(first.statements == second.statements)
        #expect(first.ordinary.percentiles([0.5, 1]) == second.ordinary.percentiles([0.5, 1]))
        var other = settings
        other.seed = 5
        #expect(QueueSimulation.run(other).statements != first.statements)
    }

    @Test("A claim that waited for half a minute gets no leases that have ended when it gets them")
    func waits() {
        var settings = Self.settings(.matching, seed: 6)
        // A claim takes so long that the others wait for longer than their leases would last.
        settings.costs.trip = .seconds(1)
        let report = QueueSimulation.run(settings)
        #expect(report.violations == [])
        #expect(report.lockWaits.percentiles([1])[0] > 31_000)
        #expect(report.stillborn == 0)
        settings.rules.claimsWhenLocked = false
        #expect(QueueSimulation.run(settings).stillborn > 0)
    }
}
