// SPDX-License-Identifier: Apache-2.0
import Foundation
import QueueSimulation
import TidebellProcesses

/// Nodes that share a queue, simulated: 10, 100 and 1,000 of them on one database, and 1,000 in cells.
///
/// Nothing is measured here, so the figures are the same on every machine; they follow from the seed and from what a
/// claim costs, which `lease-table` measures.
struct QueueSimulationBenchmark {
    private static let seed: UInt64 = 1

    static func run() {
        printLine("seed \(seed); times in ms; delivered: p50 / p99 / max")
        printLine(heading)
        for kind in [QueueKind.matching, .webhook, .pushTokens] {
            for (nodes, cells) in [(10, 1), (25, 1), (50, 1), (100, 1), (1000, 40), (1000, 1)] {
                run(kind, nodes: nodes, cells: cells, rules: .init(), named: "")
            }
        }
        for nodes in [10, 25, 50, 100] {
            run(.matching, nodes: nodes, cells: 1, rules: .before, named: "before: ")
        }
    }

    private static let heading =
        "queue, nodes in cells            changes/s | ordinary                | hot database            "
        + "| lock: use, wait p99 | claims/s, empty | statements/s a cell | thrown away, twice | held | news use"

    private static func run(
        _ kind: QueueKind, nodes: Int, cells: Int, rules: SimulationSettings.Rules, named: String
    ) {
        var settings = SimulationSettings()
        settings.seed = seed
        settings.kind = kind
        settings.nodes = nodes
        settings.cells = cells
        settings.rules = rules
        settings.duration = nodes < 1000 ? .seconds(60) : .seconds(20)
        // What is behind for that long does not catch up.
        settings.patience = nodes / cells < 1000 ? .seconds(120) : .seconds(10)
        let report = QueueSimulation.run(settings)
        let seconds = max(report.end, settings.duration) / .seconds(1)
        let perCell = seconds * Double(cells)
        func delays(_ delays: SimulationReport.Delays) -> String {
            let parts = delays.percentiles([0.5, 0.99, 1]).map { String(format: "%.0f", $0) }
            return parts.joined(separator: " / ").padding(toLength: 24, withPad: " ", startingAt: 0)
        }
        let name = "\(named)\(kind.name), \(nodes) in \(cells)"
            .padding(toLength: 32, withPad: " ", startingAt: 0)
        let share = { (part: Int, all: Int) in
            String(format: "%.2f%%", Double(part) * 100 / Double(max(1, all)))
        }
        var line = "\(name) \(Int(Double(report.changes) / (settings.duration / .seconds(1)))) | "
        line += "\(delays(report.ordinary)) | \(delays(report.hot)) | "
        line += share(Int(report.lockTime / .milliseconds(1)), Int(perCell * 1000))
        line += ", \(Int(report.lockWaits.percentiles([0.99])[0])) | "
        line += "\(Int(Double(report.looks) / seconds)), "
        line += "\(share(report.emptyLooks + report.emptyClaims, report.looks)) | "
        line += "\(Int(Double(report.statements) / perCell)) | "
        line +=
            "\(share(report.thrownAway, report.worked)), \(share(report.sentTwice, report.worked)) | "
        line += "\(report.mostHeld) | "
        line += share(Int(report.newsTime / .milliseconds(1)), Int(perCell * 1000))
        if report.undelivered > 0 { line += " | \(report.undelivered) NOT DELIVERED" }
        for violation in report.violations.prefix(1) { line += " | VIOLATED: \(violation)" }
        printLine(line)
    }
}
