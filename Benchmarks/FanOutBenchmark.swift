// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// One save, many devices: from the answer of the save to its push on the last of
/// the user's connected devices; and how many pushes a second go out when saves
/// do not wait for them.
struct FanOutBenchmark {
    let server: BenchServer
    private let crowds = [100, 1000, 5000]
    private let saves = 60
    /// Saves that are made without waiting; fewer than a stream keeps waiting, so
    /// that streams and not the log are measured.
    private let burst = 50

    func run() throws {
        DeviceCrowd.raiseFileLimit()
        try server.makeZone("fan")
        let writer = try HTTPConnection(port: server.program.port)
        try server.subscribe(to: "fan", as: "fan", .alert)
        // The first page of memory and the first statements are nobody's.
        _ = try writer.post(server.path("records/modify"), createNotes(0..<1, zone: "fan"))
        let crowd = try DeviceCrowd()
        for size in crowds {
            let (before, earlier) = (server.residentBytes, crowd.count)
            try crowd.grow(to: size, on: server)
            let each = Double(server.residentBytes - before) / Double(size - earlier) / 1024
            report("\(size) idle devices, memory for each", [each], unit: "KiB")
            try measure(crowd, writer)
        }
    }

    private func measure(_ crowd: DeviceCrowd, _ writer: HTTPConnection) throws {
        let path = server.path("records/modify")
        var latencies: [Double] = []
        for number in 0..<saves {
            _ = try writer.post(path, createNotes(number..<number + 1, zone: "fan"))
            let committed = Date()
            let last = try crowd.waitForPushes(1)[0]
            latencies.append(max(0, last.timeIntervalSince(committed) * 1000))
        }
        latencies.sort()
        report("\(crowd.count) devices, last push, median", [latencies[saves / 2]], unit: "ms")
        report("\(crowd.count) devices, last push, p99", [latencies[saves * 99 / 100]], unit: "ms")
        let start = Date()
        for number in 0..<burst {
            _ = try writer.post(path, createNotes(number..<number + 1, zone: "fan"))
        }
        let end = try crowd.waitForPushes(burst)[burst - 1]
        let rate = Double(burst * crowd.count) / end.timeIntervalSince(start)
        report("\(crowd.count) devices, pushes while saves do not wait", [rate], unit: "/s")
    }
}

extension BenchServer {
    /// The server's memory that is in use (RSS).
    var residentBytes: Int {
        let status = try? String(
            contentsOfFile: "/proc/\(process.processID)/statm", encoding: .utf8
        )
        let pages = status?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
