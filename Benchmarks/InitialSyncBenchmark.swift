// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TidebellProcesses

/// The first sync of a new device: a zone of 100,000 tasks, fetched by an operation and by
/// a sync engine. The device is a process of its own, this program under another name, so
/// that its peak memory is its own.
struct InitialSyncBenchmark {
    /// What fetches.
    enum Client: String, CaseIterable {
        case operation
        case engine
    }

    /// The argument that makes this program the device.
    static let deviceArgument = "initial-sync-device"

    fileprivate static let zone = "tasks"
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
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(),
            [Self.deviceArgument, client.rawValue],
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

    /// Is the device: fetches, and prints the count, the seconds and the peak megabytes.
    static func runDevice(_ name: String?) async throws {
        guard let client = name.flatMap(Client.init) else {
            throw ProcessFailure(description: "no such device: \(name ?? "none")")
        }
        let database = CKContainer(identifier: BenchServer.container).privateCloudDatabase
        let start = Date()
        let count =
            switch client {
            case .operation:
                try await CountingFetch.run(CKRecordZone.ID(zoneName: zone), in: database)
            case .engine: try await CountingDelegate.run(in: database)
            }
        let seconds = Date().timeIntervalSince(start)
        printLine("\(count) \(seconds) \(try peakMegabytes())")
    }

    private static func peakMegabytes() throws -> Double {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(separator: " ").compactMap { Double($0) }.first.map { $0 / 1024 } ?? 0
    }
}

/// An app that counts what its engine fetches and keeps nothing.
private actor CountingDelegate: CKSyncEngineDelegate {
    private var count = 0

    static func run(in database: CKDatabase) async throws -> Int {
        let delegate = CountingDelegate()
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        // Other benchmarks leave zones behind.
        let zoneID = CKRecordZone.ID(zoneName: InitialSyncBenchmark.zone)
        try await engine.fetchChanges(.init(scope: .zoneIDs([zoneID])))
        return await delegate.count
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .fetchedRecordZoneChanges(let changes) = event {
            count += changes.modifications.count
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        nil
    }
}
