// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// Operations that survive the end of their process; a process is a device session here,
/// and one that was killed is one whose operation stands still for ever.
@Suite("OP-9: long-lived operations", .hangs)
final class LongLivedOperationTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("long-lived-\(UUID().uuidString)", isDirectory: true)
    /// Holds the operations of killed processes until the test ends.
    private let killed = Gate()

    deinit {
        killed.open()
        try? FileManager.default.removeItem(at: folder)
    }

    fileprivate static func two() -> [CKRecord] {
        [Sample.record("a"), Sample.record("b", zone: CKRecordZone.ID(zoneName: "Two"))]
    }

    fileprivate static func answer(_ sent: ScriptedTransport.Sent) -> TransportResponse {
        .json(
            Answer.records(
                sent.body.contains(#""zoneName":"Two""#)
                    ? Answer.record("b", tag: "t2", zone: "Two") : Answer.record("a")
            )
        )
    }

    private func device(
        _ transport: ScriptedTransport, webAuthToken: String = "web", after seconds: Double = 0
    ) -> TestDevice {
        TestDevice(
            transport, webAuthToken: webAuthToken, stateFolder: folder,
            now: { Instant(Date(timeIntervalSinceNow: seconds)) }
        )
    }

    private static let now: @Sendable () -> Date = { Date() }

    /// The operations that a device finds some time later.
    private func ids(after seconds: Double) throws -> [CKOperation.ID] {
        let device = device(server(answering: 0), after: seconds)
        return try LongLivedOperations(of: device.container.connection)?.ids() ?? []
    }

    /// A server that answers so many requests, and then never again.
    private func server(answering count: Int) -> ScriptedTransport {
        ScriptedTransport { [killed] sent, number in
            if number >= count { await killed.wait() }
            return Self.answer(sent)
        }
    }

    private static func listen(_ operation: CKModifyRecordsOperation, _ log: CallbackLog) {
        operation.perRecordProgressBlock = { log.add("\($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { id, result in
            let tag = (try? result.get())?.recordChangeTag ?? ""
            log.add("save \(id.recordName) \(text(result)) \(tag)")
        }
        operation.modifyRecordsResultBlock = { log.add("result \(text($0))") }
    }

    private static let callbacks = [
        "a 1.0", "save a success t1", "b 1.0", "save b success t2", "result success",
    ]

    /// Starts a long-lived save of two zones, and returns when `count` answers were
    /// given and the next request is under way; then its process counts as killed.
    private func startAndKill(
        afterAnswers count: Int, _ set: (CKModifyRecordsOperation) -> Void = { _ in }
    ) async throws -> (CKModifyRecordsOperation, ScriptedTransport) {
        let transport = server(answering: count)
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        operation.savePolicy = .allKeys
        set(operation)
        device(transport).database.add(operation)
        await eventually { transport.sent.count > count }
        return (operation, transport)
    }

    private func resumed(
        _ transport: ScriptedTransport, webAuthToken: String = "web", after seconds: Double = 0
    ) async throws -> (CKContainer, CKModifyRecordsOperation) {
        let container = device(transport, webAuthToken: webAuthToken, after: seconds).container
        let ids = try await container.allLongLivedOperationIDs()
        let operation = try await container.longLivedOperation(for: try #require(ids.first))
        #expect(ids.count == 1)
        return (container, try #require(operation as? CKModifyRecordsOperation))
    }

    // MARK: - Resuming

    @Test("A request that was not answered is sent again as it was, under the same request ID")
    func unanswered() async throws {
        let (first, sent) = try await startAndKill(afterAnswers: 0) {
            $0.group = CKOperationGroup()
            $0.group?.name = "sync"
        }
        let transport = server(answering: 9)
        let (container, operation) = try await resumed(transport)
        #expect(operation.operationID == first.operationID)
        #expect(operation.group?.operationGroupID == first.group?.operationGroupID)
        #expect(operation.savePolicy == .allKeys)
        let log = CallbackLog()
        Self.listen(operation, log)
        await operation.finished { container.add(operation) }
        #expect(log.lines == Self.callbacks)
        #expect(transport.sent.count == 2)
        #expect(transport.sent.first?.body == sent.sent.first?.body)
        #expect(transport.sent.first?.headers == sent.sent.first?.headers)
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
    }

    @Test("OP-9: what was answered is replayed without a request, the rest is sent")
    func halfAnswered() async throws {
        let (first, _) = try await startAndKill(afterAnswers: 1)
        let transport = server(answering: 9)
        let (container, operation) = try await resumed(transport)
        let log = CallbackLog()
        Self.listen(operation, log)
        await operation.finished { container.add(operation) }
        #expect(log.lines == Self.callbacks)
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Request-ID"] }
                == ["\(first.operationID)/records/modify/2/1"]
        )
    }

    @Test("All callbacks are replayed without any request when only they were lost")
    func replayed() async throws {
        let reached = Gate()
        let stop = DispatchSemaphore(value: 0)
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        operation.modifyRecordsResultBlock = { _ in
            reached.open()
            stop.wait()  // killed here
        }
        device(server(answering: 9)).database.add(operation)
        await reached.wait()
        let transport = server(answering: 0)
        let (container, again) = try await resumed(transport)
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.privateCloudDatabase.add(again) }
        #expect(log.lines == Self.callbacks)
        #expect(transport.sent.isEmpty)
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
        stop.signal()
    }

    @Test("A fetch is resumed with its IDs and keys, and replays its records")
    func fetches() async throws {
        let transport = server(answering: 0)
        let operation = CKFetchRecordsOperation(recordIDs: Self.two().map(\.recordID))
        operation.desiredKeys = ["title"]
        operation.configuration.isLongLived = true
        device(transport).database.add(operation)
        await eventually { !transport.sent.isEmpty }
        let next = server(answering: 9)
        let container = device(next).container
        let id = try #require(try await container.allLongLivedOperationIDs().first)
        let again = try #require(
            try await container.longLivedOperation(for: id) as? CKFetchRecordsOperation
        )
        #expect(again.desiredKeys == ["title"])
        let log = CallbackLog()
        again.perRecordResultBlock = { log.add("\($0.recordName) \(text($1))") }
        again.fetchRecordsResultBlock = { log.add("result \(text($0))") }
        await again.finished { container.add(again) }
        #expect(log.lines == ["a success", "b success", "result success"])
        #expect(next.sent.first?.body == transport.sent.first?.body)
    }

    @Test("One that this process works on is waited for and replayed")
    func sameProcess() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { sent, _ in
            await gate.wait()
            return Self.answer(sent)
        }
        let device = device(transport)
        let (first, second) = (CallbackLog(), CallbackLog())
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        Self.listen(operation, first)
        device.database.add(operation)
        await eventually { !transport.sent.isEmpty }
        let again = try #require(
            try await device.container.longLivedOperation(for: operation.operationID)
                as? CKModifyRecordsOperation
        )
        #expect(again !== operation)
        Self.listen(again, second)
        await again.finished {
            device.container.add(again)
            gate.open()
        }
        #expect(first.lines == Self.callbacks)
        #expect(second.lines == Self.callbacks)
        #expect(transport.sent.count == 2)
    }

    // MARK: - What is kept

    @Test(
        "It is kept before anything is sent, reported, listed meanwhile, and gone when it ended"
    )
    func lifeCycle() async throws {
        let transport = server(answering: 9)
        let device = device(transport)
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        operation.longLivedOperationWasPersistedBlock = { log.add("persisted") }
        Self.listen(operation, log)
        let listed = Locked<[CKOperation.ID]>([])
        let container = device.container
        operation.perRecordProgressBlock = { record, _ in
            guard record.recordID.recordName == "a" else { return }
            listed.current = (try? LongLivedOperations(of: container.connection)?.ids()) ?? []
        }
        await operation.finished { device.database.add(operation) }
        #expect(log.lines.first == "persisted")
        #expect(listed.current == [operation.operationID])
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
        #expect(try await container.longLivedOperation(for: operation.operationID) == nil)
    }

    @Test("A cancelled one is gone")
    func cancelled() async throws {
        let (operation, _) = try await startAndKill(afterAnswers: 0)
        let container = device(server(answering: 9)).container
        #expect(try await container.allLongLivedOperationIDs() == [operation.operationID])
        await operation.finished {
            operation.cancel()
            killed.open()
        }
        #expect(try await container.allLongLivedOperationIDs().isEmpty)
    }

    @Test("Without a state folder, and for other kinds, nothing is kept and nothing reported")
    func notKept() async {
        let log = CallbackLog()
        let other = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        other.configuration.isLongLived = true
        other.longLivedOperationWasPersistedBlock = { log.add("persisted") }
        await device(ScriptedTransport(answering: Answer.zones())).database.runToEnd(other)
        let operation = CKModifyRecordsOperation(recordsToSave: [Sample.record("a")])
        operation.configuration.isLongLived = true
        operation.longLivedOperationWasPersistedBlock = { log.add("persisted") }
        operation.modifyRecordsResultBlock = { log.add(text($0)) }
        await TestDevice(server(answering: 9)).database.runToEnd(operation)
        #expect(log.lines == ["success"])
    }

    @Test("LIMIT-13: callbacks the app never received are kept for a day, a running one for a week")
    func collected() async throws {
        let (operation, _) = try await startAndKill(afterAnswers: 1)
        let kept = try #require(
            try LongLivedOperations(of: device(server(answering: 0)).container.connection)
        )
        let hour: TimeInterval = 3600
        let day = 24 * hour
        #expect(try ids(after: 6 * day) == [operation.operationID])
        kept.load(operation.operationID)?.journal.isAnswered()
        // The moment is that of a file, and a busy machine takes its time.
        #expect(try ids(after: day - 6 * hour) == [operation.operationID])
        #expect(try ids(after: day + 6 * hour) == [])
        #expect(kept.ids() == [])
    }

    @Test("Another user's operation is not sent: notAuthenticated")
    func anotherUser() async throws {
        let transport = server(answering: 0)
        let first = device(transport)
        first.session.learn(userRecordName: "_anna", in: "iCloud.notes")
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        first.database.add(operation)
        await eventually { !transport.sent.isEmpty }
        let next = server(answering: 9)
        let (container, again) = try await resumed(next)
        container.connection.session.learn(userRecordName: "_ben", in: "iCloud.notes")
        let log = CallbackLog()
        again.modifyRecordsResultBlock = { log.add(text($0)) }
        await again.finished { container.add(again) }
        #expect(
            log.lines == [
                "notAuthenticated: The operation was started by another user, who is not signed "
                    + "in on this device."
            ]
        )
        #expect(next.sent.isEmpty)
    }

    @Test(
        "An operation of an account the device had not asked about is sent for no other token",
        arguments: [0, 1]
    )
    func anotherToken(answers: Int) async throws {
        _ = try await startAndKill(afterAnswers: answers)
        let transport = server(answering: 9)
        let (container, operation) = try await resumed(transport, webAuthToken: "other")
        let log = CallbackLog()
        operation.perRecordSaveBlock = { log.add("save \($0.recordName) \(text($1).prefix(16))") }
        await operation.finished { container.add(operation) }
        #expect(log.lines == ["save a notAuthenticated", "save b notAuthenticated"])
        #expect(transport.sent.isEmpty)
    }

    @Test("What was answered is replayed for the user alone, whose name is asked for if need be")
    func replayedForItsUserAlone() async throws {
        let first = device(server(answering: 1))
        first.session.learn(userRecordName: "_anna", in: "iCloud.notes")
        let operation = CKModifyRecordsOperation(recordsToSave: Self.two())
        operation.configuration.isLongLived = true
        first.database.add(operation)
        let kept = try #require(try LongLivedOperations(of: first.container.connection))
        await eventually {
            kept.load(operation.operationID)?.journal.body(of: "records/modify/2/1") != nil
        }
        for (name, outcome) in [("_ben", "notAuthenticated"), ("_anna", "success")] {
            let transport = ScriptedTransport { sent, _ in
                sent.endpoint == "public users/caller"
                    ? .json(#"{"userRecordName":"\#(name)"}"#) : Self.answer(sent)
            }
            let container = device(transport, webAuthToken: "new").container
            let loaded = try await container.longLivedOperation(for: operation.operationID)
            let again = try #require(loaded as? CKModifyRecordsOperation)
            let log = CallbackLog()
            again.perRecordSaveBlock = { log.add("\($0.recordName) \(text($1).prefix(16))") }
            let url = try running()
            let bytes = try Data(contentsOf: url)
            await again.finished { container.add(again) }
            #expect(log.lines == ["a \(outcome)", "b \(outcome)"])
            try bytes.write(to: url)
        }
    }

    /// The file of the only operation.
    private func running() throws -> URL {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }
        return try #require(found?.first { $0.path.hasSuffix(".running") })
    }

    @Test(
        "ERR-43: what an earlier process sent and the server may have forgotten is not sent again")
    func forgotten() async throws {
        let (first, _) = try await startAndKill(afterAnswers: 1)
        let transport = server(answering: 9)
        let (container, operation) = try await resumed(transport, after: 23 * 3600 + 60)
        #expect(operation.operationID == first.operationID)
        let log = CallbackLog()
        operation.perRecordSaveBlock = { log.add("\($0.recordName) \(text($1).prefix(18))") }
        await operation.finished { container.add(operation) }
        #expect(log.lines == ["a success", "b serverResponseLost"])
        #expect(transport.sent.isEmpty)
    }

    // MARK: - Damage

    @Test("What is appended after half a frame is read by the next process")
    func halfAFrame() async throws {
        let (first, _) = try await startAndKill(afterAnswers: 1)
        let url = try running()
        let whole = try Data(contentsOf: url)
        let frames = JournalFile.frames(of: url)
        #expect(frames.count == 4)
        // Killed while it wrote the second request.
        try whole.dropLast(7).write(to: url)
        let device = device(server(answering: 0))
        let kept = try #require(try LongLivedOperations(of: device.container.connection))
        let journal = try #require(kept.load(first.operationID)?.journal)
        journal.willSend([1, 2], as: "records/modify/2/1", at: Date(timeIntervalSince1970: 5))
        let next = self.device(server(answering: 0))
        let found = try #require(
            try LongLivedOperations(of: next.container.connection)?.load(first.operationID)
        )
        #expect(found.journal.body(of: "records/modify/2/1") == [1, 2])
        #expect(found.journal.sentAt("records/modify/2/1") == Date(timeIntervalSince1970: 5))
        withExtendedLifetime(journal) {}
    }

    @Test("OP-9: a process that opens a journal takes away nothing that another one appends")
    func openedWhileAppending() throws {
        let url = folder.appendingPathComponent("journal\(JournalFile.runningSuffix)")
        let frame = ArchiveBlob.bytes(of: SentFrame(name: "n", body: [1], date: Date()))
        let made = JournalFile(at: url, first: frame, date: Self.now)
        let file = try #require(made)
        DispatchQueue.concurrentPerform(iterations: 2) { process in
            for _ in 0..<200 {
                if process == 0 {
                    file.append(frame)
                } else {
                    _ = JournalFile(at: url, date: Self.now)
                }
            }
        }
        #expect(JournalFile.frames(of: url) == Array(repeating: frame, count: 201))
    }

    @Test(
        "A file that ends anywhere, or has a damaged byte, gives an operation or none, never both")
    func damage() async throws {
        let (operation, _) = try await startAndKill(afterAnswers: 1)
        let running = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL }.first { $0.path.hasSuffix(".running") }
        )
        let whole = try Data(contentsOf: running)
        let kept = try #require(
            try LongLivedOperations(of: device(server(answering: 0)).container.connection)
        )
        let first = try #require(ArchiveBlob.length(of: ArraySlice(whole)))
        var answered = 0
        for length in stride(from: 0, through: whole.count, by: 1) {
            try whole.prefix(length).write(to: running)
            let loaded = kept.load(operation.operationID)
            #expect((loaded != nil) == (length >= first), "cut after \(length) bytes")
            if loaded?.journal.answer(to: "records/modify/1/1") != nil { answered += 1 }
        }
        #expect(answered > 0 && answered < whole.count - first)
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var damaged = whole
            damaged[Int.random(in: 0..<whole.count, using: &random)] ^= 0x20
            try damaged.write(to: running)
            _ = kept.load(operation.operationID)
        }
    }

    @Test("An ID that is no operation's, such as a path, gives nil")
    func oddIDs() async throws {
        let container = device(server(answering: 0)).container
        for id in ["", "../device-id", UUID().uuidString] {
            #expect(try await container.longLivedOperation(for: id) == nil)
        }
    }

    @Test("OP-9: a process that is killed leaves an operation the next one finishes")
    func killedProcess() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let operation = CKModifyRecordsOperation(recordsToSave: LongLivedOperationTests.two())
            operation.configuration.isLongLived = true
            let transport = ScriptedTransport { sent, number in
                if number == 1 { kill(getpid(), SIGKILL) }
                return LongLivedOperationTests.answer(sent)
            }
            let device = TestDevice(transport, stateFolder: URL(fileURLWithPath: path))
            await operation.finished { device.database.add(operation) }
        }
        let transport = ScriptedTransport { sent, _ in Self.answer(sent) }
        let container = TestDevice(transport, stateFolder: folder).container
        let id = try #require(try await container.allLongLivedOperationIDs().first)
        let again = try #require(
            try await container.longLivedOperation(for: id) as? CKModifyRecordsOperation
        )
        let log = CallbackLog()
        Self.listen(again, log)
        await again.finished { container.add(again) }
        #expect(log.lines == Self.callbacks)
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Request-ID"] } == [
                "\(id)/records/modify/2/1"
            ]
        )
    }
}
