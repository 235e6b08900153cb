// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// Measures a release build of `tidebell serve` over real sockets, and the matching
/// of subscriptions in this process; with the argument `matching` only that.
///
/// Prints one line for each figure: the median of several runs and their range.
/// Figures of different machines or days cannot be compared; compare within one run.
/// Arguments (`matching`, `saves`, `latency`, `fan-out`, `changes`, `queries`, `sharing`, `apple`,
/// `records`, `first-sync`) choose among them; `indexes`, `endurance` and `save-tails`, which take many
/// minutes, `costs`, `engines`, `lease-table` and `queue-simulation` run only where they are named.
@main
struct TidebellBenchmarks {
    static func main() async {
        do {
            let names = CommandLine.arguments.dropFirst()
            func wants(_ name: String) -> Bool { names.isEmpty || names.contains(name) }
            if wants("matching") {
                for mix in [MatchingBenchmark.Mix.equalities, .ranges] {
                    for count in [1000, 10_000, 100_000, 1_000_000] {
                        try await MatchingBenchmark(subscriptions: count, mix: mix).run()
                    }
                }
            }
            let ofOneServer = Set([
                "saves", "latency", "fan-out", "changes", "queries", "sharing", "first-sync",
            ])
            let wanted = names.isEmpty ? ofOneServer : ofOneServer.intersection(names)
            if !wanted.isEmpty { try await measureOneServer(wanted) }
            if wants("apple") { try await ApplePushBenchmark.run() }
            if names.contains("indexes") {
                try await IndexBenchmark.run()
            }
            if names.contains("costs") { try await UnitCostBenchmark.run() }
            if names.contains("endurance") { try await EnduranceBenchmark.run() }
            if names.contains("save-tails") { try await SaveTailBenchmark.run() }
            if names.contains("engines") { try await EngineBenchmark.run() }
            if names.contains("lease-table") { try await LeaseTableBenchmark.run() }
            if names.contains("queue-simulation") { QueueSimulationBenchmark.run() }
            if wants("records") { try await RecordCodingBenchmark().run() }
        } catch {
            printLine("The benchmarks failed: \(error)")
            exit(1)
        }
    }
}

/// The measurements that share a server.
private func measureOneServer(_ wanted: Set<String>) async throws {
    let bench = try await BenchServer.start()
    defer { bench.stop() }
    if wanted.contains("saves") {
        try SaveBenchmark(server: bench).run(clients: 1)
        try SaveBenchmark(server: bench).run(clients: 32)
    }
    if wanted.contains("latency") { try PushLatencyBenchmark(server: bench).run() }
    if wanted.contains("fan-out") { try FanOutBenchmark(server: bench).run() }
    if wanted.contains("changes") { try FetchChangesBenchmark(server: bench).run() }
    if wanted.contains("queries") { try QueryBenchmark(server: bench).run() }
    if wanted.contains("sharing") { try await SharingBenchmark(server: bench).run() }
    if wanted.contains("first-sync") { try await InitialSyncBenchmark(server: bench).run() }
}

/// How often each measurement is repeated.
let repetitions = 5

/// Prints a figure: the median of the runs and their range.
func report(_ what: String, _ runs: [Double], unit: String) {
    let sorted = runs.sorted()
    let median = sorted[sorted.count / 2]
    let text = [median, sorted[0], sorted[sorted.count - 1]].map { value in
        value < 100 ? String(format: "%.2f", value) : String(Int(value))
    }
    let name = what.padding(toLength: 64, withPad: " ", startingAt: 0)
    printLine("\(name)\(text[0]) \(unit)   (\(text[1]) to \(text[2]))")
}

/// The running server with what a client needs to call it.
struct BenchServer {
    static let container = "iCloud.org.tidebell.bench"
    /// Where the programs are that are measured: as they are shipped, by `Benchmarks/run`, else beside this one.
    static let programs =
        ProcessInfo.processInfo.environment["TIDEBELL_BENCH_PROGRAMS"].map {
            URL(fileURLWithPath: $0)
        } ?? ChildProcess.buildFolder

    let program: TidebellProgram
    let process: ChildProcess
    let apiToken: String
    let webAuthToken: String

    static func start(
        arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> BenchServer {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-bench-\(UUID().uuidString)")
        var program = TidebellProgram(
            executable: programs.appendingPathComponent("tidebell"),
            dataFolder: folder, port: try LoopbackPort.free()
        )
        program.environment = environment
        let process = try await program.serve(
            arguments: [
                "--log-level", "error",
                // One user stands for many here.
                "--requests-per-second", "0", "--streams-per-caller", "100000",
                "--limit", "devicesPerUser=10000",
            ] + arguments
        )
        return BenchServer(
            program: program, process: process,
            apiToken: try await program.token(["api-token", "create", "--name", "bench"]),
            webAuthToken: try await program.token(["user", "add", "bench"])
        )
    }

    /// Starts another node of the same cloud.
    func startAnotherNode(
        _ name: String, environment: [String: String]
    ) async throws -> BenchServer {
        var program = program
        program.port = try LoopbackPort.free()
        program.environment = environment
        let process = try await program.serve(
            arguments: ["--node-name", name, "--log-level", "error"])
        return BenchServer(
            program: program, process: process, apiToken: apiToken, webAuthToken: webAuthToken)
    }

    func stop() {
        process.signal(SIGTERM)
        try? FileManager.default.removeItem(at: program.dataFolder)
    }

    /// The path of a call to a database, credentials included: those of the one user, or others.
    func path(
        _ call: String, container: String = container, scope: String = "private",
        token: String? = nil, clientID: String = "writer"
    ) -> String {
        "/database/1/\(container)/development/\(scope)/\(call)?"
            + credentials(clientID, token: token)
    }

    /// The path of a call about a device.
    func devicePath(_ call: String, clientID: String) -> String {
        "/device/1/\(Self.container)/development/\(call)?\(credentials(clientID))"
    }

    /// The path of the device stream.
    func streamPath(clientID: String, token: String? = nil) -> String {
        "/ext/1/\(Self.container)/development/notifications/stream?"
            + credentials(clientID, token: token)
    }

    private func credentials(_ clientID: String, token: String? = nil) -> String {
        let allowed = CharacterSet.alphanumerics
        let token = token ?? webAuthToken
        let encoded = token.addingPercentEncoding(withAllowedCharacters: allowed) ?? token
        return "ckAPIToken=\(apiToken)&ckWebAuthToken=\(encoded)&clientId=\(clientID)"
    }

    /// What a push of a subscription is.
    enum PushKind: String {
        /// A later one replaces it.
        case silent = #""shouldSendContentAvailable":true"#
        /// There is one for each change.
        case alert = #""alertBody":"New""#
    }

    /// Subscribes the one user, or another, to the changes of a zone.
    func subscribe(
        to zone: String, as id: String, _ kind: PushKind = .silent, token: String? = nil
    ) throws {
        let connection = try HTTPConnection(port: program.port)
        _ = try connection.post(
            path("subscriptions/modify", token: token),
            #"{"operations":[{"operationType":"create","subscription":{"#
                + #""subscriptionID":"\#(id)","subscriptionType":"zone","#
                + #""zoneID":{"zoneName":"\#(zone)"},"#
                + #""notificationInfo":{\#(kind.rawValue)}}}]}"#
        )
    }

    /// Makes a zone of the one user, or of another.
    func makeZone(_ name: String, token: String? = nil) throws {
        let connection = try HTTPConnection(port: program.port)
        _ = try connection.post(
            path("zones/modify", token: token),
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
        )
    }
}

/// The record all measurements use: about 260 bytes of JSON.
func noteFields(_ number: Int) -> String {
    let body = String(repeating: "x", count: 200)
    return #"{"title":{"value":"note \#(number)"},"body":{"value":"\#(body)"},"#
        + #""count":{"value":\#(number)},"done":{"value":0}}"#
}

/// A `records/modify` body that creates notes under fresh names.
func createNotes(_ range: Range<Int>, zone: String) -> String {
    let operations = range.map { number in
        #"{"operationType":"create","record":{"recordType":"Note","recordName":"\#(UUID())","#
            + #""fields":\#(noteFields(number))}}"#
    }
    return
        #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations.joined(separator: ","))]}"#
}
