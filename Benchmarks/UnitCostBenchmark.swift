// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import TidebellProcesses
import TidebellTesting

/// What one save, page, push and idle device takes of the processors, the disk and memory, of a server on SQLite and
/// of a node on PostgreSQL: what SCALE.md reckons with.
///
/// Seconds of processors hardly depend on what else the machine does; latencies do, and are not printed.
struct UnitCostBenchmark {
    private static let zone = "costs"
    private let server: MeasuredServer

    static func run() async throws {
        for onPostgres in [false, true] {
            let database = onPostgres ? try MeasuredServer.Database() : nil
            defer { database?.server.end() }
            let bench = try await start(on: database, [])
            printLine(onPostgres ? "a node on PostgreSQL" : "a server on SQLite")
            do {
                defer { bench.stop() }
                let server = MeasuredServer(bench: bench, database: database)
                try UnitCostBenchmark(server: server).run()
            }
            _ = await bench.process.waitUntilExit()
            let apple = onPostgres ? try MeasuredServer.Database() : nil
            defer { apple?.server.end() }
            try await measureApple(on: apple)
        }
    }

    private static func start(
        on database: MeasuredServer.Database?, _ arguments: [String]
    ) async throws -> BenchServer {
        try await BenchServer.start(
            arguments: (database == nil ? [] : ["--node-name", "a"]) + arguments,
            environment: database.map { ["TIDEBELL_STORE": $0.server.address()] } ?? [:])
    }

    private func run() throws {
        try server.bench.makeZone(Self.zone)
        let connection = try HTTPConnection(port: server.bench.program.port)
        // The first ones fill caches and pages.
        try Self.save(300, on: server.bench, over: connection, from: 0)
        try measure("a save, 1 client", 3000) {
            try Self.save(3000, on: server.bench, over: connection, from: 1000)
        }
        try measure("a save, 32 clients", 32 * 250) { try saveAtOnce(clients: 32, each: 250) }
        try measure("a record in a batch of 200", 100 * 200) {
            for number in 0..<100 {
                let first = 20_000 + number * 200
                _ = try connection.post(
                    server.bench.path("records/modify"),
                    createNotes(first..<first + 200, zone: Self.zone))
            }
        }
        let token = try page(nil, over: connection)
        try measure("a page of 200 changes", 500) {
            for _ in 0..<500 { _ = try page(nil, over: connection) }
        }
        try measure("a page since a token, of 200 changes", 500) {
            for _ in 0..<500 { _ = try page(token, over: connection) }
        }
        try measure("a question after nothing new (zones of the database)", 2000) {
            for _ in 0..<2000 {
                _ = try connection.post(server.bench.path("changes/database"), "{}")
            }
        }
        try measureStreams()
    }

    private func measure(_ what: String, _ count: Int, _ body: () throws -> Void) throws {
        let before = try server.use()
        try body()
        report(what, try server.use() - before, for: count)
    }

    private func report(_ what: String, _ use: ResourceUse, for count: Int) {
        func each(_ value: Double, _ factor: Double) -> String {
            String(format: "%8.1f", value * factor / Double(count))
        }
        let name = what.padding(toLength: 56, withPad: " ", startingAt: 0)
        let database = server.database == nil ? "" : "\(each(use.postgres, 1e6)) µs of PostgreSQL"
        printLine(
            "\(name)\(each(use.server, 1e6)) µs of the server \(database) "
                + "\(each(use.writtenBytes, 1)) bytes written")
    }

    // MARK: - What is measured

    /// Saves one by one, each with a name, as the `CloudKit` module does.
    private static func save(
        _ count: Int, on bench: BenchServer, over connection: HTTPConnection, from first: Int
    ) throws {
        let operation = UUID().uuidString
        for number in first..<first + count {
            _ = try connection.post(
                bench.path("records/modify"), createNotes(number..<number + 1, zone: zone),
                requestID: "\(operation)/records/modify/\(number)")
        }
    }

    private func saveAtOnce(clients: Int, each count: Int) throws {
        let bench = server.bench
        try runClients(clients) { client in
            let connection = try HTTPConnection(port: bench.program.port)
            try Self.save(count, on: bench, over: connection, from: 100_000 + client * 1000)
        }
    }

    /// A page of 200 changes since a token; returns the token after it.
    private func page(_ token: String?, over connection: HTTPConnection) throws -> String {
        let since = token.map { #","syncToken":"\#($0)""# } ?? ""
        let answer = try connection.post(
            server.bench.path("changes/zone"),
            #"{"zones":[{"zoneID":{"zoneName":"\#(Self.zone)"}\#(since),"resultsLimit":200}]}"#)
        guard let key = answer.range(of: #""syncToken":""#) else {
            throw BenchmarkError("an answer without a token")
        }
        return String(answer[key.upperBound...].prefix { $0 != "\"" })
    }

    private func measureStreams() throws {
        DeviceCrowd.raiseFileLimit()
        try server.bench.makeZone("fan")
        let writer = try HTTPConnection(port: server.bench.program.port)
        try server.bench.subscribe(to: "fan", as: "fan")
        let path = server.bench.path("records/modify")
        let crowd = try DeviceCrowd()
        func push(_ saves: Int) throws {
            for number in 0..<saves {
                _ = try writer.post(path, createNotes(number..<number + 1, zone: "fan"))
                _ = try crowd.waitForPushes(1)
            }
        }
        try crowd.grow(to: 1, on: server.bench)
        try push(50)
        try measure("a save and its push to one device", 1000) { try push(1000) }
        let before = try server.use()
        try crowd.grow(to: 2001, on: server.bench)
        let memory = (try server.use() - before).residentBytes / 2000
        printLine("memory of an idle device: \(Int(memory)) bytes")
        try push(1)
        try measure("a push to one of 2001 devices", 100 * 2001) { try push(100) }
        try measure("an idle device in a second, of 2001", 2001 * 60) {
            Thread.sleep(forTimeInterval: 60)
        }
    }

    private static func measureApple(on database: MeasuredServer.Database?) async throws {
        let bench = try await ApplePushBenchmark.Bench { arguments in
            try await start(on: database, arguments)
        }
        defer { bench.server.stop() }
        let server = MeasuredServer(bench: bench.server, database: database)
        try await bench.push(saves: 5)
        let before = try server.use()
        let pushes = try await bench.push(saves: 40)
        UnitCostBenchmark(server: server).report(
            "a push to Apple's push service (100 devices a save)", try server.use() - before,
            for: pushes)
    }
}
