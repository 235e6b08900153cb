// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellProcesses

/// How long the slowest saves take, of 32 clients that save without pause for a minute: in one database,
/// and in a thousand, whose pages are scattered over the whole file.
struct SaveTailBenchmark {
    private static let clients = 32
    private static let users = 1000
    private static let seconds = 60.0
    /// Seconds of saves before, so that the log is as long as it becomes.
    private static let warmUpSeconds = 5.0

    let server: BenchServer
    private let tokens: [String]

    static func run() async throws {
        let server = try await BenchServer.start()
        defer { server.stop() }
        var tokens: [String] = []
        for number in 0..<users {
            tokens.append(try await server.program.token(["user", "add", "user-\(number)"]))
        }
        let benchmark = SaveTailBenchmark(server: server, tokens: tokens)
        for token in tokens { try server.makeZone("tails", token: token) }
        for count in [1, users] {
            _ = try benchmark.measure(users: count, seconds: warmUpSeconds)
            let latencies = try benchmark.measure(users: count, seconds: seconds)
            let shares = [0.5, 0.99, 0.999].map { latencies.percentile($0) }
            let text = (shares + [latencies.maximum])
                .map { String(format: "%.1f", $0) }.joined(separator: " / ")
            printLine(
                "saves of \(clients) clients in \(count) database\(count == 1 ? "" : "s"): "
                    + "\(Int(Double(latencies.count) / seconds)) per s, "
                    + "p50 / p99 / p99.9 / longest \(text) ms")
        }
    }

    private func measure(users: Int, seconds: Double) throws -> LatencyHistogram {
        let all = Mutex(LatencyHistogram())
        let end = monotonicNow() + UInt64(seconds * 1e9)
        try runClients(Self.clients) { client in
            let latencies = try save(as: client, users: users, until: end)
            all.withLock { $0.add(latencies) }
        }
        return all.withLock(\.self)
    }

    private func save(as client: Int, users: Int, until end: UInt64) throws -> LatencyHistogram {
        let connection = try HTTPConnection(port: server.program.port)
        let paths = tokens.prefix(users).map {
            server.path("records/modify", token: $0, clientID: "writer-\(client)")
        }
        var latencies = LatencyHistogram()
        var number = 0
        while true {
            let begin = monotonicNow()
            guard begin < end else { return latencies }
            // Each client begins with another user, so that they do not go through them together.
            let path = paths[(client * 31 + number) % paths.count]
            _ = try connection.post(path, createNotes(number..<number + 1, zone: "tails"))
            latencies.record(monotonicNow() - begin)
            number += 1
        }
    }
}
