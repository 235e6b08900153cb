// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses
import TidebellTesting

/// Pushes per second to Apple's push service: from the first of many saves until a
/// strict service on this machine has taken the pushes of all of a user's devices
/// over HTTP/2. The service runs in the benchmark's own process.
struct ApplePushBenchmark {
    private static let devices = 100
    private static let savesPerRun = 40

    static func run() async throws {
        let bench = try await Bench { try await BenchServer.start(arguments: $0) }
        defer { bench.server.stop() }
        var runs: [Double] = []
        for _ in 0..<repetitions {
            let start = Date()
            let pushes = try await bench.push(saves: savesPerRun)
            runs.append(Double(pushes) / Date().timeIntervalSince(start))
        }
        guard bench.apple.received.count == repetitions * savesPerRun * devices else {
            throw ProcessFailure(description: "\(bench.apple.received.count) pushes were taken")
        }
        report("pushes to Apple's push service", runs, unit: "per s")
    }

    /// A server that has devices at a push service in this process.
    struct Bench {
        let apple: FakeAPNs
        let server: BenchServer
        private let connection: HTTPConnection

        /// Starts both; `start` gets the arguments that the server has for it.
        init(_ start: ([String]) async throws -> BenchServer) async throws {
            apple = try await FakeAPNs(apps: [BenchServer.container: "org.tidebell.bench"])
            let keyFile = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidebell-bench-\(UUID().uuidString).p8")
            try apple.keyFile.write(to: keyFile, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: keyFile) }
            server = try await start([
                "--apns-key-file", keyFile.path, "--apns-key-id", apple.keyID,
                "--apns-team-id", apple.teamID,
                "--apns-topic", "\(BenchServer.container)=org.tidebell.bench",
                "--apns-gateway", apple.url, "--apns-trust-roots", apple.certificateFile.path,
            ])
            connection = try HTTPConnection(port: server.program.port)
            try prepare(server, connection)
        }

        /// Saves, and returns when all devices have a push of each save, with how many pushes these are.
        @discardableResult
        func push(saves: Int) async throws -> Int {
            let before = apple.answers.count
            for number in 0..<saves {
                _ = try connection.post(
                    server.path("records/modify"), createNotes(number..<number + 1, zone: "apple")
                )
            }
            try await apple.answered(before + saves * devices)
            return saves * devices
        }
    }

    private static func prepare(_ server: BenchServer, _ connection: HTTPConnection) throws {
        try server.makeZone("apple")
        _ = try connection.post(
            server.path("subscriptions/modify"),
            #"{"operations":[{"operationType":"create","subscription":{"#
                + #""subscriptionID":"bench","subscriptionType":"query","#
                + #""zoneID":{"zoneName":"apple"},"query":{"recordType":"Note"},"#
                + #""firesOn":["create"],"notificationInfo":{"alertBody":"New note"}}}]}"#
        )
        for number in 0..<devices {
            let token = String(String(1_000_000 + number) + String(repeating: "a", count: 64))
                .prefix(64)
            _ = try connection.post(
                server.devicePath("tokens/register", clientID: "phone-\(number)"),
                #"{"apnsEnvironment":"development","apnsToken":"\#(token)"}"#
            )
        }
    }
}
