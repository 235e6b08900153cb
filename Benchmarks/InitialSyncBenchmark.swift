// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// The first sync of a new device: a zone of 100,000 tasks, fetched by an operation and by
/// a sync engine. The device is a process of its own (`benchmark-device`), so that its peak memory is that of
/// an app.
struct InitialSyncBenchmark {
    /// What fetches.
    enum Client: String, CaseIterable {
        case operation
        case engine
    }

    private static let zone = "tasks"
    let server: BenchServer
    private let records = 100_000
    private let batch = 400

    func run() async throws {
        try server.makeZone(Self.zone)
        let connection = try HTTPConnection(port: server.program.port)
        for start in stride(from: 0, to: records, by: batch) {
            _ = try connection.post(
                server.path("records/modify"), createTasks(start..<start + batch, zone: Self.zone))
        }
        for client in Client.allCases {
            var seconds: [Double] = []
            var megabytes: [Double] = []
            for _ in 0..<repetitions {
                let figures = try await measure(client)
                seconds.append(figures.seconds)
                megabytes.append(figures.megabytes)
            }
            report("first sync of 100,000 records, \(client)", seconds, unit: "s")
            report("its peak memory, \(client)", megabytes, unit: "MB")
        }
    }

    private func measure(_ client: Client) async throws -> (seconds: Double, megabytes: Double) {
        let home = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-bench-device-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let device = try ChildProcess(
            BenchServer.programs.appendingPathComponent("benchmark-device"),
            [client.rawValue, BenchServer.container, Self.zone],
            environment: [
                "TIDEBELL_SERVER": server.program.address,
                "TIDEBELL_API_TOKEN": server.apiToken,
                "TIDEBELL_WEB_AUTH_TOKEN": server.webAuthToken,
                "TIDEBELL_HOME": home.path,
            ])
        var figures: [Double] = []
        for await line in device.lines {
            figures += line.split(separator: " ").compactMap { Double($0) }
        }
        guard figures.count == 3, figures[0] == Double(records) else {
            throw ProcessFailure(description: "the device fetched \(figures)")
        }
        return (figures[1], figures[2])
    }
}
