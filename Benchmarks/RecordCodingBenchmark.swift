// SPDX-License-Identifier: Apache-2.0
import CloudKit
import CountingClients
import Foundation
import TidebellProcesses

/// Records through the client alone: what an operation costs beside the network and the
/// server. The answers are ready; decoding is a zone fetched by pages of 200 (JSON to
/// `CKRecord` in the app's callback), encoding a save of 400 records at a time.
struct RecordCodingBenchmark {
    private static let container = "iCloud.org.tidebell.bench"
    private static let zoneID = CKRecordZone.ID(zoneName: "tasks")
    private let pageSize = 200
    private let pages = 100
    private let batch = 400
    private let batches = 25

    func run() async throws {
        var decoded: [Double] = []
        var encoded: [Double] = []
        for _ in 0..<repetitions {
            decoded.append(try await decode())
            encoded.append(try await encode())
        }
        report("records decoded, ten fields", decoded, unit: "per s")
        report("records encoded and their answer read, ten fields", encoded, unit: "per s")
    }

    private func decode() async throws -> Double {
        let answers = (0..<pages).map { page in
            zonePage(
                "tasks", records: page * pageSize..<(page + 1) * pageSize, token: page + 1,
                moreComing: page + 1 < pages)
        }
        let database = database(answers)
        let start = Date()
        let count = try await CountingFetch.run(Self.zoneID, in: database)
        let seconds = Date().timeIntervalSince(start)
        guard count == pages * pageSize else {
            throw ProcessFailure(description: "\(count) records were decoded")
        }
        return Double(count) / seconds
    }

    private func encode() async throws -> Double {
        let answer = #"{"records":["# + taskAnswers(0..<batch, zone: "tasks") + "]}"
        let database = database(Array(repeating: answer, count: batches))
        let records = (0..<batches).map { _ in (0..<batch).map { task($0, in: Self.zoneID) } }
        let start = Date()
        for batch in records {
            let results = try await database.modifyRecords(saving: batch, deleting: [])
            for result in results.saveResults.values { _ = try result.get() }
        }
        return Double(batch * batches) / Date().timeIntervalSince(start)
    }

    private func database(_ answers: [String]) -> CKDatabase {
        let configuration = DeviceConfiguration(
            server: URL(filePath: "/"), apiToken: "api", webAuthToken: "web", deviceID: "bench")
        let session = DeviceSession(
            configuration: configuration, transport: ReadyAnswers(answers.map { Array($0.utf8) }))
        return CKContainer(identifier: Self.container, session: session).privateCloudDatabase
    }
}

/// Gives the answers it was made with, in turn.
private actor ReadyAnswers: Transport {
    private var answers: ArraySlice<[UInt8]>

    init(_ answers: [[UInt8]]) {
        self.answers = answers[...]
    }

    func send(_: TransportRequest, timeout: Duration) async throws -> TransportResponse {
        guard let answer = answers.popFirst() else {
            throw TransportError.unreachable("there are no more answers")
        }
        return TransportResponse(
            status: 200, headers: [("Content-Type", "application/json")], body: answer)
    }

    func stream(_: TransportRequest) async throws -> TransportStream {
        throw TransportError.unreachable("there are no streams")
    }
}
