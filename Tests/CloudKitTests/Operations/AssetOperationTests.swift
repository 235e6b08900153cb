// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// Operations whose records have files, when the network or the account fails them.
@Suite("Operations with files", .hangs)
final class AssetOperationTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("asset-operations-\(UUID().uuidString)", isDirectory: true)
    /// Holds the operations of killed processes for ever: they write nothing any more.
    private let killed = Gate()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func record(
        _ name: String, zone: CKRecordZone.ID = Sample.zoneID
    ) throws -> CKRecord {
        let url = folder.appendingPathComponent(name)
        try Data("one".utf8).write(to: url)
        let record = Sample.record(name, zone: zone)
        record["f"] = CKAsset(fileURL: url)
        return record
    }

    private static func listen(_ operation: CKModifyRecordsOperation, _ log: CallbackLog) {
        operation.perRecordSaveBlock = { log.add("\($0.recordName) \(code($1))") }
        operation.modifyRecordsResultBlock = { log.add("result \(code($0))") }
    }

    private static func code<Value>(_ result: Result<Value, any Error>) -> String {
        guard case .failure(let error) = result else { return "success" }
        return (error as? CKError).map { "\($0.code)" } ?? "\(error)"
    }

    private static let two = CKRecordZone.ID(zoneName: "Two")

    // MARK: - Saving

    @Test(
        "OP-8: a save fails as a whole when there is no network, server or room for its files",
        arguments: [
            ("networkUnavailable", nil),
            (
                "serviceUnavailable",
                (#"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"full","retryAfter":60}"#, 503)
            ),
            ("internalError", (#"{"serverErrorCode":"INTERNAL_ERROR","reason":"broken"}"#, 500)),
        ] as [(String, (body: String, status: Int)?)]
    )
    func uploadFails(code: String, refusal: (body: String, status: Int)?) async throws {
        let server = AssetServer { part, _ in
            guard part == .file else { return nil }
            guard let refusal else { throw TransportError.unreachable("no route") }
            return .json(refusal.body, status: refusal.status)
        }
        let transport = server.transport()
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [
                try record("a"), Sample.record("b"), Sample.record("c", zone: Self.two),
            ]
        )
        Self.listen(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["a \(code)", "b \(code)", "c \(code)", "result \(code)"])
        #expect(transport.steps == ["assets/upload", "upload/1"])
    }

    @Test(
        "An asset that is to be imported keeps its ID for who asks, and fails the record it is saved in"
    )
    func imported() async throws {
        let exported = try JSONDecoder().decode(
            [CKAsset.ExportedAssetID].self, from: Data(#"["photo-1"]"#.utf8))
        #expect(try JSONEncoder().encode(exported) == Data(#"["photo-1"]"#.utf8))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([CKAsset.ExportedAssetID].self, from: Data("[{}]".utf8))
        }
        let transport = AssetServer { _, _ in nil }.transport()
        let log = CallbackLog()
        let record = Sample.record("a")
        let asset = CKAsset(importing: exported[0])
        #expect(asset.fileURL == nil)
        record["f"] = asset
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        Self.listen(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["a assetNotAvailable", "result success"])
        #expect(transport.steps == [])
    }

    @Test("An upload path where the server awaits no file any more is asked for again")
    func outdatedUploadPath() async throws {
        let server = AssetServer { part, number in
            guard part == .file, number == 1 else { return nil }
            return .json(
                #"{"serverErrorCode":"BAD_REQUEST","reason":"late","ext":{"ckCode":35}}"#,
                status: 400
            )
        }
        let clock = ManualClock()
        let transport = server.transport()
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(recordsToSave: [try record("a")])
        operation.database = TestDevice(transport, clock: clock).database
        operation.qualityOfService = .userInitiated
        Self.listen(operation, log)
        await operation.finished {
            operation.start()
            Task {
                await clock.untilSleeping()
                clock.advance(by: RequestRetry.backoff.first)
            }
        }
        #expect(log.lines == ["a success", "result success"])
        #expect(
            transport.steps
                == ["assets/upload", "upload/1", "assets/upload", "upload/2", "records/modify"]
        )
    }

    @Test("LIMIT-14: the operation's time bounds the transfer of a file, however it moves")
    func overdue() async throws {
        let clock = ManualClock()
        let server = AssetServer { [killed] part, _ in
            if part == .file { await killed.wait() }
            return nil
        }
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(recordsToSave: [try record("a")])
        operation.configuration.timeoutIntervalForResource = 10
        operation.database = TestDevice(server.transport(), clock: clock).database
        operation.modifyRecordsResultBlock = { log.add(text($0)) }
        await operation.finished {
            operation.start()
            Task {
                await clock.untilSleeping()
                clock.advance(by: .seconds(11))
            }
        }
        #expect(
            log.lines == [
                "networkFailure: The operation did not end within 10.0 seconds "
                    + "(timeoutIntervalForResource)."
            ]
        )
    }

    @Test("LIMIT-2: a request that is too large fails the operation, which may be split")
    func tooLarge() async throws {
        let refusal = TransportResponse.json(
            #"{"serverErrorCode":"BAD_REQUEST","reason":"too long","ext":{"ckCode":27}}"#,
            status: 400
        )
        let device = TestDevice(ScriptedTransport { _, _ in refusal })
        let log = CallbackLog()
        let records = CKModifyRecordsOperation(recordsToSave: [Sample.record("a")])
        Self.listen(records, log)
        await device.database.runToEnd(records)
        let zones = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "Z")], recordZoneIDsToDelete: nil
        )
        zones.modifyRecordZonesResultBlock = { log.add("zones \(Self.code($0))") }
        await device.database.runToEnd(zones)
        #expect(
            log.lines == ["a limitExceeded", "result limitExceeded", "zones limitExceeded"]
        )
    }

    // MARK: - Fetching

    private static let page = Answer.record(
        "a",
        fields: #"{"f":{"type":"ASSETID","value":\#(AssetServer.one),"#
            + #""downloadURL":"/assets/1/download/x"}}}"#
    )

    @Test("TOK-19: changes whose files cannot be reached are not reported, nor is their token")
    func noNetworkForFiles() async throws {
        let transport = ScriptedTransport(
            streams: { _, _ in throw TransportError.unreachable("no route") }
        ) { _, _ in
            .json(
                Answer.zones(
                    Answer.page("a", token: "a1", more: true, Answer.tombstone("gone")),
                    Answer.page("b", token: "b1", Self.page)
                )
            )
        }
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [ZoneChangesTests.a, ZoneChangesTests.b],
            configurationsByRecordZoneID: nil
        )
        let log = CallbackLog()
        operation.recordWasChangedBlock = { log.add("changed \($0.recordName) \(Self.code($1))") }
        operation.recordWithIDWasDeletedBlock = { id, _ in log.add("deleted \(id.recordName)") }
        operation.recordZoneChangeTokensUpdatedBlock = { id, _, _ in log.add("token \(id)") }
        operation.recordZoneFetchResultBlock = { log.add("\($0.zoneName) \(Self.code($1))") }
        operation.fetchRecordZoneChangesResultBlock = { log.add("result \(Self.code($0))") }
        await TestDevice(transport, stateFolder: folder).database.runToEnd(operation)
        #expect(
            log.lines
                == ["a networkUnavailable", "b networkUnavailable", "result networkUnavailable"]
        )
    }

    @Test("ASSET-9: a file that the server cannot read to its end fails its record alone")
    func brokenFile() async throws {
        let clock = ManualClock()
        let transport = AssetServer().transport { sent, _ in
            // The first byte comes, and never another one; each answer ends in order.
            let isRest = sent.headers["Range"] != nil
            return TransportStream(
                status: isRest ? 206 : 200,
                chunks: AsyncThrowingStream { continuation in
                    if !isRest { continuation.yield([111]) }
                    continuation.finish()
                }
            )
        }
        #expect(
            await fetchPatiently(transport, clock) == [
                "a assetNotAvailable: The file of field 'f' of record 'a' cannot be downloaded: "
                    + "the server sends 1 of 3 bytes",
                "result success",
            ]
        )
    }

    @Test("OP-5: connections that break before a byte came mean nothing for the file")
    func brokenConnections() async throws {
        let transport = AssetServer().transport { _, number in
            TransportStream(
                chunks: AsyncThrowingStream { continuation in
                    guard number < 2 else {
                        continuation.yield(Array("one".utf8))
                        return continuation.finish()
                    }
                    continuation.finish(throwing: TransportError.connectionLost("broke"))
                }
            )
        }
        #expect(await fetchPatiently(transport, ManualClock()) == ["a success", "result success"])
        #expect(transport.opened.count == 3)
    }

    /// Fetches a record in an operation that waits for the network; returns what it reported.
    private func fetchPatiently(
        _ transport: ScriptedTransport, _ clock: ManualClock
    ) async -> [String] {
        let operation = CKFetchRecordsOperation(recordIDs: [Sample.id("a")])
        operation.qualityOfService = .utility
        operation.database = TestDevice(transport, clock: clock, stateFolder: folder).database
        let log = CallbackLog()
        operation.perRecordResultBlock = { log.add("\($0.recordName) \(text($1))") }
        operation.fetchRecordsResultBlock = { log.add("result \(Self.code($0))") }
        let mover = Task {
            // Not so many times: others sleep, too, and the operation may have yet to.
            while !Task.isCancelled {
                await clock.untilSlept(atMost: .seconds(5))
                clock.advance(by: .seconds(5))
            }
        }
        await operation.finished { operation.start() }
        mover.cancel()
        return log.lines
    }

    @Test(
        "ASSET-9: a file that the server refuses fails its record alone, whatever the reason",
        arguments: [
            (#"{"serverErrorCode":"INTERNAL_ERROR","reason":"the disk"}"#, 500),
            ("", 416), ("", 500), (#"{"serverErrorCode":"NOT_FOUND","reason":"gone"}"#, 404),
        ]
    )
    func refusedFile(body: String, status: Int) async throws {
        let server = AssetServer { part, _ in
            part == .download ? .json(body, status: status) : nil
        }
        let log = CallbackLog()
        let operation = CKFetchRecordsOperation(recordIDs: [Sample.id("a")])
        operation.perRecordResultBlock = { log.add("\($0.recordName) \(Self.code($1))") }
        operation.fetchRecordsResultBlock = { log.add("result \(Self.code($0))") }
        await TestDevice(server.transport(), stateFolder: folder).database.runToEnd(operation)
        #expect(log.lines == ["a assetNotAvailable", "result success"])
    }

    // MARK: - Long-lived operations

    private func longLived(_ records: [CKRecord]) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        operation.configuration.isLongLived = true
        return operation
    }

    /// Starts a long-lived operation on a server that stands still at a request, and
    /// returns when it is there; then its process counts as killed.
    private func startAndKill(
        _ operation: CKDatabaseOperation, at part: AssetServer.Part, _ number: Int,
        _ fault: @escaping AssetServer.Fault = { _, _ in nil }
    ) async throws -> ScriptedTransport {
        let reached = Gate()
        let server = AssetServer { [killed] now, count in
            guard now == part, count == number else { return try await fault(now, count) }
            reached.open()
            await killed.wait()
            return nil
        }
        let transport = server.transport()
        TestDevice(transport, stateFolder: folder).database.add(operation)
        await reached.wait()
        return transport
    }

    private func resumed<Operation: CKDatabaseOperation>(
        _ transport: ScriptedTransport, as type: Operation.Type
    ) async throws -> (CKContainer, Operation) {
        let container = TestDevice(transport, stateFolder: folder).container
        let id = try #require(try await container.allLongLivedOperationIDs().first)
        let operation = try await container.longLivedOperation(for: id)
        return (container, try #require(operation as? Operation))
    }

    @Test("OP-9: a save that was sent before is sent as it was, without its files")
    func resumedSave() async throws {
        let operation = longLived([try record("a"), Sample.record("b")])
        let first = try await startAndKill(operation, at: .records, 1)
        // A temporary file may be gone by the next start.
        try FileManager.default.removeItem(at: folder.appendingPathComponent("a"))
        let transport = AssetServer().transport()
        let (container, again) = try await resumed(transport, as: CKModifyRecordsOperation.self)
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.add(again) }
        #expect(log.lines == ["a success", "b success", "result success"])
        #expect(transport.steps == ["records/modify"])
        #expect(transport.sent.first?.body == first.sent.last?.body)
        #expect(transport.sent.first?.body.contains(#""receipt":"r1""#) == true)
    }

    @Test("OP-9: a save that was answered is replayed without any request")
    func replayedSave() async throws {
        let operation = longLived([try record("a"), try record("b", zone: Self.two)])
        _ = try await startAndKill(operation, at: .file, 2)
        let transport = AssetServer().transport()
        let (container, again) = try await resumed(transport, as: CKModifyRecordsOperation.self)
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.add(again) }
        #expect(log.lines == ["a success", "b success", "result success"])
        // Only the second zone is left to do; its upload path is asked for anew.
        #expect(transport.steps == ["assets/upload", "upload/1", "records/modify"])
    }

    @Test("OP-9: a file that was uploaded before the save was sent is not uploaded again")
    func keptReceipt() async throws {
        let operation = longLived([try record("a"), try record("b")])
        let reached = Gate()
        let server = AssetServer { [killed] part, number in
            guard part == .file, number == 2 else { return nil }
            reached.open()
            await killed.wait()
            return nil
        }
        TestDevice(server.transport(), stateFolder: folder).database.add(operation)
        await reached.wait()
        // The other file's receipt is kept a moment after its answer.
        try await eventually { try receiptCount() > 0 }
        let transport = AssetServer().transport()
        let (container, again) = try await resumed(transport, as: CKModifyRecordsOperation.self)
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.add(again) }
        #expect(log.lines == ["a success", "b success", "result success"])
        #expect(transport.steps == ["assets/upload", "upload/1", "records/modify"])
    }

    /// How many receipts the journals in the folder hold.
    private func receiptCount() throws -> Int {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let journals = (files?.compactMap { $0 as? URL } ?? []).filter {
            $0.path.hasSuffix(".running")
        }
        return try journals.reduce(0) { count, journal in
            let text = String(decoding: try Data(contentsOf: journal), as: UTF8.self)
            return count + text.components(separatedBy: "singleFile").count - 1
        }
    }

    @Test(
        "OP-9: a save that went twice for a lost file is replayed without the file",
        arguments: [2, 3]
    )
    func resumedSecondSave(killedAt request: Int) async throws {
        let operation = longLived([try record("a"), Sample.record("b", zone: Self.two)])
        let lost = Answer.failedRecord("a", "BAD_REQUEST", ext: #","ext":{"ckCode":35}"#)
        let first = try await startAndKill(operation, at: .records, request) { part, number in
            part == .records && number == 1 ? .json(Answer.records(lost)) : nil
        }
        try FileManager.default.removeItem(at: folder.appendingPathComponent("a"))
        let transport = AssetServer().transport()
        let (container, again) = try await resumed(transport, as: CKModifyRecordsOperation.self)
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.add(again) }
        #expect(log.lines == ["a success", "b success", "result success"])
        let names = ["records/modify/1/2", "records/modify/2/1"].suffix(4 - request)
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Request-ID"] }
                == names.map { "\(operation.operationID)/\($0)" }
        )
        #expect(transport.sent.first?.body == first.sent.last?.body)
    }

    /// Resumes the kept fetch, and returns what it reported.
    private func linesOfResumedFetch(_ transport: ScriptedTransport) async throws -> [String] {
        let (container, again) = try await resumed(transport, as: CKFetchRecordsOperation.self)
        let log = CallbackLog()
        again.perRecordResultBlock = { log.add("\($0.recordName) \(Self.code($1))") }
        again.fetchRecordsResultBlock = { log.add("result \(Self.code($0))") }
        await again.finished { container.add(again) }
        return log.lines
    }

    @Test("OP-9: a record that is asked for anew is not taken from another zone's kept answer")
    func resumedFetchOfTwoZones() async throws {
        let operation = CKFetchRecordsOperation(
            recordIDs: [Sample.id("a"), Sample.id("b", zone: Self.two)]
        )
        operation.configuration.isLongLived = true
        _ = try await startAndKill(operation, at: .download, 2)
        let server = AssetServer { part, number in
            guard part == .download, number == 1 else { return nil }
            return .json(#"{"serverErrorCode":"ACCESS_DENIED","reason":"late"}"#, status: 403)
        }
        let transport = server.transport()
        #expect(
            try await linesOfResumedFetch(transport) == [
                "a success", "b success", "result success",
            ])
        #expect(transport.steps == ["records/lookup"])
        #expect(transport.sent.first?.body.contains(#""recordName":"a""#) == true)
    }

    @Test("OP-9: a fetch that went in halves, and goes whole the next time, mixes no answers up")
    func resumedHalves() async throws {
        let operation = CKFetchRecordsOperation(
            recordIDs: [Sample.id("a"), Sample.id("c"), Sample.id("b", zone: Self.two)]
        )
        operation.configuration.isLongLived = true
        let tooMuch = #"{"serverErrorCode":"BAD_REQUEST","reason":"much","ext":{"ckCode":27}}"#
        let first = try await startAndKill(operation, at: .download, 3) { part, number in
            part == .records && number == 1 ? .json(tooMuch, status: 400) : nil
        }
        #expect(first.sent.count == 4)
        let transport = AssetServer().transport()
        #expect(
            try await linesOfResumedFetch(transport) == [
                "a success", "c success", "b success", "result success",
            ])
        // The whole page is asked for once more; the next name stands for a half's answer.
        #expect(transport.sent.map(\.body) == [first.sent[0].body, first.sent[3].body])
    }

    @Test("OP-9: a fetch whose kept answer has outdated download URLs asks anew")
    func resumedFetch() async throws {
        let operation = CKFetchRecordsOperation(recordIDs: [Sample.id("a")])
        operation.configuration.isLongLived = true
        _ = try await startAndKill(operation, at: .download, 1)
        let server = AssetServer { part, number in
            guard part == .download, number == 1 else { return nil }
            return .json(#"{"serverErrorCode":"ACCESS_DENIED","reason":"late"}"#, status: 403)
        }
        let transport = server.transport()
        #expect(try await linesOfResumedFetch(transport) == ["a success", "result success"])
        #expect(transport.steps == ["records/lookup"])
        #expect(transport.opened.count == 2)
    }
}
