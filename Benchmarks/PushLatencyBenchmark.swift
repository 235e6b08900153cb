// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Commit to push: from the answer of a save, which is sent once the change is
/// durable, to its push on another device's stream.
struct PushLatencyBenchmark {
    let server: BenchServer
    private let saves = 500

    func run() throws {
        try server.makeZone("pushes")
        let writer = try HTTPConnection(port: server.program.port)
        try server.subscribe(to: "pushes", as: "bench")
        let device = try HTTPConnection(port: server.program.port)
        try device.openStream(server.streamPath(clientID: "device"))
        try device.read(until: "event: ready")
        var medians: [Double] = []
        var tails: [Double] = []
        for _ in 0..<repetitions {
            let latencies = try measure(writer: writer, device: device).sorted()
            medians.append(latencies[latencies.count / 2])
            tails.append(latencies[latencies.count * 99 / 100])
        }
        report("commit to push on the device stream, median", medians, unit: "ms")
        report("commit to push on the device stream, p99", tails, unit: "ms")
    }

    private func measure(writer: HTTPConnection, device: HTTPConnection) throws -> [Double] {
        let path = server.path("records/modify")
        return try (0..<saves).map { number in
            let body = createNotes(number..<number + 1, zone: "pushes")
            _ = try writer.post(path, body)
            let committed = Date()
            try device.read(until: #""sid":"bench""#)
            return max(0, Date().timeIntervalSince(committed) * 1000)
        }
    }
}
