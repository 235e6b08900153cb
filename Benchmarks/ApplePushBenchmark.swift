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
        let apple = try await FakeAPNs(apps: [BenchServer.container: "org.tidebell.bench"])
        let keyFile = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-bench-\(UUID().uuidString).p8")
        try apple.keyFile.write(to: keyFile, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: keyFile) }
        let server = try await BenchServer.start(arguments: [
            "--apns-key-file", keyFile.path, "--apns-key-id", apple.keyID,
            "--apns-team-id", apple.teamID,
            "--apns-topic", "\(BenchServer.container)=org.tidebell.bench",
            "--apns-gateway", apple.url, "--apns-trust-roots", apple.certificateFile.path,
        ])
        defer { server.stop() }
        let connection = try HTTPConnection(port: server.program.port)
        try prepare(server, connection)
        var runs: [Double] = []
        for _ in 0..<repetitions {
            let start = Date()
            let before = apple.answers.count
            for number in 0..<savesPerRun {
                _ = try connection.post(
                    server.path("records/modify"), createNotes(number..<number + 1, zone: "apple")
                )
            }
            let pushes = savesPerRun * devices
            try await apple.answered(before + pushes)
            runs.append(Double(pushes) / Date().timeIntervalSince(start))
        }
        guard apple.received.count == repetitions * savesPerRun * devices else {
            throw ProcessFailure(description: "\(apple.received.count) pushes were taken")
        }
        report("pushes to Apple's push service", runs, unit: "per s")
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
