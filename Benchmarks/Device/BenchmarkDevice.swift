// SPDX-License-Identifier: Apache-2.0
import CloudKit
import CountingClients
import Foundation

/// A device on its first sync: `benchmark-device operation|engine CONTAINER ZONE` fetches the zone, and prints
/// how many records came, in how many seconds, and its peak memory in megabytes.
///
/// It has in it what an app has, so that its memory is an app's: the module `CloudKit`, and no server.
@main
struct BenchmarkDevice {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3 else { throw CKError(.invalidArguments) }
        let database = CKContainer(identifier: arguments[2]).privateCloudDatabase
        let zone = CKRecordZone.ID(zoneName: arguments[3])
        let start = Date()
        let count =
            switch arguments[1] {
            case "engine": try await CountingEngine.run(zone, in: database)
            case "operation": try await CountingFetch.run(zone, in: database)
            default: throw CKError(.invalidArguments)
            }
        print(count, Date().timeIntervalSince(start), try peakMegabytes())
    }

    private static func peakMegabytes() throws -> Double {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(separator: " ").compactMap { Double($0) }.first.map { $0 / 1024 } ?? 0
    }
}
