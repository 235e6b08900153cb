// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellProcesses
import TidebellScheduling
import TidebellServer
import Logging
import HTTPTypes
import TidebellHTTP

/// A server that is to stop in the middle of more pushes than it can make in the time it has.
@Suite(.hangs)
struct BacklogTests {
    /// Each record is one notification for each subscriber: seconds of work, and minutes on a busy machine.
    private static let subscribers = 200
    private static let records = 400
    private static let recordsPerRequest = 200
    /// More than a server can match within its drain time.
    private static let moreRecords = 4000

    private let program: TidebellProgram

    init() throws { program = try Built.tidebell() }

    @Test("PUSH-14: SIGTERM ends a server with a backlog, and the next start delivers the rest")
    func termination() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let cloud = try await makeSubscribers()
        let ledger = Ledger()
        var server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        let device = home.wireDevice("phone")
        let _: Empty = try await device.post("public/subscriptions/modify", Subscribe())
        let reader = PushReader(device: device, ledger: ledger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await reader.read() }
            await eventually { reader.isReady }
            try await stop(server)
            try await makeChanges(as: cloud)

            server = try await program.serve()
            // Now it is at work.
            await eventually { reader.events > 0 }
            try await stop(server)
            #expect(reader.received.count < Self.records)
            #expect(try await backlog() > 0)

            server = try await program.serve()
            await eventually { reader.received.count == Self.records }
            try await eventually { try await backlog() == 0 }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(ledger.contents.violations == [])
        #expect(reader.received.values.allSatisfy { $0.ids.count == 1 })
        try await stop(server)
    }

    @Test(
        "SIGTERM ends a server when its drain time is over, whatever it has to push, send and receive"
    )
    func drainTime() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let cloud = try await makeSubscribers()
        try await makeChanges(as: cloud, count: Self.moreRecords)
        // Neither the upload nor the download would ever end by itself.
        let server = try await program.serve(arguments: [
            "--limit", "bodyTime=1000000s", "--limit", "answerTime=1d", "--limit",
            "leastAnswerRate=0",
        ])
        let home = try await Household(program: program, user: "anna")
        let connections = [
            try await home.beginUpload(), try await home.beginDownloadAndStop(bytes: 32 << 20),
            try await home.openStream(),
        ]
        #expect(try await backlog() > 0)
        server.signal(SIGTERM)
        var closed: [String] = []
        for await line in server.lines where line.contains("the drain time is over") {
            closed.append(line)
        }
        #expect(await server.waitUntilExit() == 0)
        // The stream ends at once, the other two when the time is over.
        #expect(closed.count == 1)
        #expect(closed.first?.contains("connections=2") == true, "\(closed)")
        #expect(try await backlog() > 0)
        withExtendedLifetime(connections) {}
    }

    /// Stops a server, which ends by itself.
    private func stop(_ server: ChildProcess) async throws {
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    private struct Empty: Decodable {}

    private struct Subscribe: Encodable {
        struct Operation: Encodable {
            var operationType = "create"
            var subscription = Subscription()
        }

        struct Subscription: Encodable {
            var subscriptionID = "entries"
            var subscriptionType = "query"
            var query = ["recordType": "Entry"]
            var firesOn = ["create"]
            var notificationInfo = ["alertBody": "new"]
        }

        var operations = [Operation()]
    }
}

// MARK: - What is made while no server runs

extension BacklogTests {
    /// The user who makes the changes.
    struct Writer {
        var apiToken: String
        var webToken = ""
        var clientID = ""
    }

    /// Opens the cloud of the data folder, which nobody serves; its pipeline does not run.
    private func withCloud<Result>(
        _ body: (CloudServices) async throws -> Result
    ) async throws -> Result {
        var configuration = ServerConfiguration(dataFolder: program.dataFolder)
        configuration.logLevel = .critical
        let cloud = try await TidebellServer(configuration).cloud
        let result = try await body(cloud)
        try await cloud.store.close()
        return result
    }

    /// Makes users with a device and a subscription each; returns one who can write.
    private func makeSubscribers() async throws -> Writer {
        try await withCloud { cloud in
            let apiToken = try await cloud.accounts.makeAPIToken(named: "tests")
            let subscription = try String(
                decoding: JSONEncoder().encode(Subscribe()), as: UTF8.self)
            var writer = Writer(apiToken: apiToken)
            for number in 0..<Self.subscribers {
                writer.webToken = try await cloud.accounts.add(named: "reader-\(number)")
                writer.clientID = "device-\(number)"
                let token = String(format: "%064x", number)
                try await post(
                    "device", "tokens/register",
                    #"{"apnsEnvironment":"development","apnsToken":"\#(token)"}"#,
                    as: writer, to: cloud
                )
                try await post(
                    "database", "public/subscriptions/modify", subscription, as: writer, to: cloud)
            }
            return writer
        }
    }

    /// Makes changes that nobody is notified of.
    private func makeChanges(as writer: Writer, count: Int = Self.records) async throws {
        try await withCloud { cloud in
            for first in stride(from: 0, to: count, by: Self.recordsPerRequest) {
                let operations = (first..<first + Self.recordsPerRequest).map {
                    #"{"operationType":"create","record":{"recordType":"Entry","recordName":"r\#($0)"}}"#
                }.joined(separator: ",")
                try await post(
                    "database", "public/records/modify", #"{"operations":[\#(operations)]}"#,
                    as: writer, to: cloud
                )
            }
        }
    }

    private func post(
        _ root: String, _ path: String, _ json: String, as writer: Writer,
        to cloud: CloudServices
    ) async throws {
        let answer = await cloud.respond(
            .post,
            "/\(root)/1/\(Household.container)/development/\(path)?ckAPIToken=\(writer.apiToken)"
                + "&ckWebAuthToken=\(writer.webToken)&clientId=\(writer.clientID)",
            body: Array(json.utf8)
        )
        let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
        try #require(answer.status == 200 && !text.contains("ErrorCode"), "\(text)")
    }

    /// How many databases have changes that nobody was notified of.
    private func backlog() async throws -> Int {
        let store = try DataFolder(program.dataFolder).openStore(
            for: .administering, time: .system, randomness: .system
        )
        let count = try await store.read { try $0.queuedDatabases(limit: 10).count }
        try await store.close()
        return count
    }
}
