// SPDX-License-Identifier: Apache-2.0
import Simulation
import TidebellProcesses

/// Goes through many walks: `tidebell-simulate --seeds 1-2000`; with `--pipelines 3` so many
/// share the work, with `--returns` at the end the store comes back from older moments, with
/// `--wide` requests are sent again, files are uploaded, and the pipeline runs by itself.
@main
struct Simulate {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst().map(\.self)
        let hasReturns = arguments.last == "--returns"
        let isWide = arguments.last == "--wide"
        if hasReturns || isWide { arguments.removeLast() }
        let pipelines = try pipelines(&arguments)
        let seeds = try seeds(arguments)
        let clock = ContinuousClock()
        let start = clock.now
        var failed: [UInt64] = []
        var total = Simulation.Tally()
        for seed in seeds {
            let walk = Walk(
                seed: seed, hasReturns: hasReturns, isWide: isWide, pipelines: pipelines)
            do {
                total += try await Simulation.run(walk)
            } catch {
                failed.append(seed)
                printLine("\(error)\n\(await walk.shrunk())")
            }
            let count = seed - seeds.lowerBound + 1
            if count % 100 == 0 { printLine("\(count) walks, \(failed.count) failed") }
        }
        let rate = Double(seeds.count) / ((clock.now - start) / .seconds(1))
        printLine(
            "\(seeds.count) walks, \(rate) a second: \(total.changes) changes processed, "
                + "\(total.notifications) notifications, \(total.delivered) deliveries, "
                + "\(total.returns) returns; "
                + "failed: \(failed)"
        )
    }

    /// Takes `--pipelines 3` from the end; one where it is not there.
    private static func pipelines(_ arguments: inout [String]) throws -> Int {
        guard arguments.count == 4, arguments[2] == "--pipelines" else { return 1 }
        guard let count = Int(arguments[3]), count > 0 else { throw Usage() }
        arguments.removeLast(2)
        return count
    }

    /// Reads `--seeds 7` or `--seeds 1-2000`.
    private static func seeds(_ arguments: [String]) throws -> ClosedRange<UInt64> {
        guard arguments.count == 2, arguments[0] == "--seeds" else { throw Usage() }
        let bounds = arguments[1].split(separator: "-").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, bounds.count <= 2, first <= last
        else { throw Usage() }
        return first...last
    }

    private struct Usage: Error, CustomStringConvertible {
        let description = """
            usage: tidebell-simulate --seeds <first>[-<last>] [--pipelines <count>] \
            [--returns | --wide]
            """
    }
}
