// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Simulation
import TidebellProcesses

/// Goes through many walks; fails where one of them does.
@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidebell-simulate",
        abstract: "Goes through simulated clouds that walk at random, each by its seed."
    )

    @Option(help: "The seeds, such as 7 or 1-2000.", transform: seeds)
    var seeds: ClosedRange<UInt64>

    @Option(help: "How many pipelines share the work.")
    var pipelines = 1

    @Flag(help: "The store comes back from older moments.")
    var returns = false

    @Flag(
        help: "Requests are sent again, files are uploaded, and the pipeline runs by itself.")
    var wide = false

    @Flag(help: "Zones are shared, which is all that happens then.")
    var sharing = false

    @Flag(help: "Queries are asked while others write, and indexes come and go.")
    var queries = false

    func validate() throws {
        guard pipelines > 0 else { throw ValidationError("--pipelines is at least 1.") }
        guard [returns, wide, sharing, queries].count(where: \.self) <= 1 else {
            throw ValidationError(
                "--returns, --wide, --sharing and --queries are kinds of walks; give one of them.")
        }
    }

    func run() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var failed: [UInt64] = []
        var total = Simulation.Tally()
        for seed in seeds {
            let walk = Walk(
                seed: seed, hasReturns: returns, isWide: wide, pipelines: pipelines,
                hasSharing: sharing, hasQueries: queries)
            do {
                total += try await Simulation.run(walk)
            } catch {
                failed.append(seed)
                // Cutting steps takes long.
                printLine("seed \(seed): \(error)")
                printLine("\(await walk.shrunk(failing: error))")
            }
            let count = seed - seeds.lowerBound + 1
            if count % 100 == 0 { printLine("\(count) walks, \(failed.count) failed") }
        }
        let rate = Double(seeds.count) / ((clock.now - start) / .seconds(1))
        printLine(
            "\(seeds.count) walks, \(rate) a second: \(total.changes) changes processed, "
                + "\(total.notifications) notifications, \(total.delivered) deliveries, "
                + "\(total.returns) returns; failed: \(failed)"
        )
        if !failed.isEmpty { throw ExitCode.failure }
    }

    /// Reads `7` or `1-2000`.
    private static func seeds(_ text: String) throws -> ClosedRange<UInt64> {
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard bounds.count <= 2, let first = bounds.first ?? nil, let last = bounds.last ?? nil,
            first <= last
        else { throw ValidationError("'\(text)' is neither a seed nor a range such as 1-2000.") }
        return first...last
    }
}
