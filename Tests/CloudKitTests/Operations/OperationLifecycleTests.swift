// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite(.hangs) struct OperationLifecycleTests {
    private static let cancelled = "operationCancelled: The operation was cancelled."

    private static func operation(
        _ log: CallbackLog,
        in database: CKDatabase?
    ) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: [
                Sample.record("a"),
                Sample.record("b", zone: CKRecordZone.ID(zoneName: "Two")),
            ]
        )
        operation.database = database
        operation.perRecordSaveBlock = { log.add("save \($0.recordName) \(text($1))") }
        operation.modifyRecordsResultBlock = { log.add("result \(text($0))") }
        return operation
    }

    // MARK: - Cancellation

    @Test("OP-8: cancelled before it starts, every block reports that, and nothing is sent")
    func cancelledBeforeTheStart() async {
        let transport = ScriptedTransport(answering: "{}")
        let log = CallbackLog()
        let operation = Self.operation(log, in: nil)
        operation.cancel()
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == ["save a", "save b", "result"].map { "\($0) \(Self.cancelled)" }
        )
        #expect(operation.isFinished && operation.isCancelled && !operation.isExecuting)
        #expect(transport.sent.isEmpty)
    }

    @Test("OP-8: cancelled during a request, the request ends, and the rest is not sent")
    func cancelledDuringARequest() async {
        let log = CallbackLog()
        let arrived = Gate()
        let transport = ScriptedTransport { _, _ in
            arrived.open()
            await Gate().wait()  // ends with the task only
            throw CancellationError()
        }
        let operation = Self.operation(log, in: TestDevice(transport).database)
        await operation.finished {
            operation.start()
            Task {
                await arrived.wait()
                operation.cancel()
            }
        }
        #expect(
            log.lines == ["save a", "save b", "result"].map { "\($0) \(Self.cancelled)" }
        )
        #expect(transport.sent.count == 1)
    }

    @Test("OP-8: cancelled from a callback, what was done stays done, the rest is cancelled")
    func cancelledFromACallback() async {
        let log = CallbackLog()
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("a")))
        let operation = Self.operation(log, in: nil)
        operation.perRecordSaveBlock = { id, result in
            log.add("save \(id.recordName) \(text(result))")
            operation.cancel()
        }
        await TestDevice(transport).database.runToEnd(operation)
        operation.perRecordSaveBlock = nil  // it keeps the operation
        #expect(
            log.lines == [
                "save a success", "save b \(Self.cancelled)", "result \(Self.cancelled)",
            ]
        )
        #expect(transport.sent.count == 1)
    }

    @Test("OP-8: cancelled after the end nothing more happens")
    func cancelledAfterTheEnd() async {
        let log = CallbackLog()
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("a")))
        let operation = Self.operation(log, in: nil)
        await TestDevice(transport).database.runToEnd(operation)
        operation.cancel()
        #expect(log.lines == ["save a success", "save b success", "result success"])
    }

    @Test("Cancelling the task cancels an async form")
    func cancellingTheTask() async {
        let arrived = Gate()
        let transport = ScriptedTransport { _, _ in
            arrived.open()
            await Gate().wait()
            throw CancellationError()
        }
        let database = TestDevice(transport).database
        let task = Task { await Result { try await database.allRecordZones() } }
        await arrived.wait()
        task.cancel()
        #expect(text(await task.value) == Self.cancelled)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await database.allRecordZones() }
        }
        #expect(text(await late.value) == Self.cancelled)
        #expect(transport.sent.count == 1)
    }

    // MARK: - As an Operation

    @Test("OP-3: on the app's own queue dependencies are kept and the completion block is last")
    func dependenciesOnTheAppsQueue() async {
        let log = CallbackLog()
        let transport = ScriptedTransport { sent, _ in
            log.add("sent \(sent.endpoint)")
            return .json(
                sent.endpoint == "private zones/list"
                    ? Answer.zones(Answer.zone("a"))
                    : Answer.subscriptions(SubscriptionOperationTests.wire)
            )
        }
        let database = TestDevice(transport).database
        let first = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        first.fetchRecordZonesResultBlock = { log.add("first \(text($0))") }
        first.completionBlock = { log.add("first completion") }
        let second = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        second.fetchSubscriptionsResultBlock = { log.add("second \(text($0))") }
        for operation in [first, second] as [CKDatabaseOperation] { operation.database = database }
        second.addDependency(first)
        let queue = OperationQueue()
        await second.finished {
            queue.addOperation(second)
            queue.addOperation(first)
        }
        let lines = log.lines.filter { $0 != "first completion" }
        #expect(
            lines == [
                "sent private zones/list", "first success", "sent private subscriptions/list",
                "second success",
            ]
        )
        #expect(log.lines.contains("first completion"))
    }

    @Test("An operation is asynchronous, runs, and finishes")
    func statesOfAnOperation() async {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.wait()
            return .json(Answer.zones())
        }
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.database = TestDevice(transport).database
        #expect(operation.isAsynchronous && operation.isReady && !operation.isExecuting)
        await operation.finished {
            operation.start()
            #expect(operation.isExecuting && !operation.isFinished)
            gate.open()
        }
        #expect(!operation.isExecuting && operation.isFinished)
    }

    @Test("A subclass of the app's own does the work of its main()")
    func aSubclassOfTheApps() async {
        final class Custom: CKOperation, @unchecked Sendable {
            let log = CallbackLog()
            override func main() { log.add("main") }
        }
        let operation = Custom()
        await operation.finished { operation.start() }
        #expect(operation.log.lines == ["main"])
    }

    @Test("A subclass of an operation sets its last properties in its main(), before super's")
    func aSubclassOfAnOperation() async {
        final class FetchNotes: CKFetchRecordsOperation, @unchecked Sendable {
            override func main() {
                recordIDs = [CKRecord.ID(recordName: "set in main")]
                super.main()
                super.main()
            }
        }
        let log = CallbackLog()
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("set in main")))
        let operation = FetchNotes()
        operation.database = TestDevice(transport).database
        operation.perRecordResultBlock = { id, _ in log.add("record \(id.recordName)") }
        operation.fetchRecordsResultBlock = { log.add("result \(text($0))") }
        await operation.finished { operation.start() }
        #expect(log.lines == ["record set in main", "result success"])
        #expect(transport.sent.count == 1)
        // Called by itself it does nothing, and keeps start() from nothing.
        let early = FetchNotes()
        early.database = operation.database
        early.main()
        await early.finished { early.start() }
        #expect(transport.sent.count == 2)
        // Cancelled before, its main() is not asked.
        let cancelled = FetchNotes(recordIDs: [CKRecord.ID(recordName: "n")])
        cancelled.database = operation.database
        cancelled.fetchRecordsResultBlock = { log.add(text($0)) }
        cancelled.cancel()
        await cancelled.finished { cancelled.start() }
        #expect(log.lines.last == Self.cancelled)
        #expect(transport.sent.count == 2)
    }

    @Test("Blocks can be read back")
    func blocksCanBeReadBack() {
        let operation = CKFetchRecordZonesOperation()
        #expect(operation.fetchRecordZonesResultBlock == nil)
        let log = CallbackLog()
        operation.fetchRecordZonesResultBlock = { log.add(text($0)) }
        operation.fetchRecordZonesResultBlock?(.success(()))
        #expect(log.lines == ["success"])
        #expect(operation.operationID != CKOperation().operationID)
    }

    // MARK: - Configuration

    @Test("OP-2: the operation's own value wins over the group's, and that over the default")
    func configurationsAreMerged() {
        let operation = CKOperation()
        let group = CKOperationGroup()
        operation.group = group
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == .seconds(60))
        #expect(operation.effectiveConfiguration.qualityOfService == .default)
        group.defaultConfiguration.timeoutIntervalForRequest = 10
        group.defaultConfiguration.qualityOfService = .utility
        operation.configuration.timeoutIntervalForRequest = 5
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == .seconds(5))
        #expect(operation.effectiveConfiguration.qualityOfService == .utility)
        // An explicit value wins even when it is the default.
        operation.configuration.qualityOfService = .default
        #expect(operation.effectiveConfiguration.qualityOfService == .default)
        operation.configuration = nil
        #expect(operation.configuration != nil)
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == .seconds(10))
    }

    @Test("A configuration is copied when it is set")
    func configurationsAreCopied() {
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 1
        let operation = CKOperation()
        operation.configuration = configuration
        configuration.timeoutIntervalForRequest = 2
        #expect(operation.configuration.timeoutIntervalForRequest == 1)
        #expect(operation.configuration.timeoutIntervalForResource == 604_800)
        #expect(operation.configuration.allowsCellularAccess)
        #expect(!operation.configuration.isLongLived)
    }

    @Test("OP-10: a group archives ID, name, sizes and configuration")
    func groupsArchive() throws {
        let group = CKOperationGroup()
        group.name = "sync"
        group.quantity = 3
        group.expectedSendSize = .kilobytes
        group.expectedReceiveSize = .gigabytes
        group.defaultConfiguration.qualityOfService = .background
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: group,
            requiringSecureCoding: true
        )
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data)
        )
        #expect(read.operationGroupID == group.operationGroupID)
        #expect(read.name == "sync")
        #expect(read.quantity == 3)
        #expect(read.expectedSendSize == .kilobytes)
        #expect(read.expectedReceiveSize == .gigabytes)
        #expect(read.defaultConfiguration.values.qualityOfService == .background)
        #expect(read.defaultConfiguration.values.timeoutIntervalForRequest == nil)
    }

    // MARK: - Databases and containers

    @Test("OP-1: without a database it is the private one of the default container")
    func withoutADatabase() async {
        let transport = ScriptedTransport(answering: Answer.zones())
        let device = TestDevice(transport)
        let operation = DeviceSession.$current.withValue(device.session) {
            CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        }
        await operation.finished { operation.start() }
        let other = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        other.configuration.container = device.container
        await other.finished { other.start() }
        let added = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        await added.finished { device.container.add(added) }
        #expect(
            transport.sent.map(\.path) == [
                "/database/1/iCloud.default/development/private/zones/list",
                "/database/1/iCloud.notes/development/private/zones/list",
                "/database/1/iCloud.notes/development/private/zones/list",
            ]
        )
    }

    @Test("The databases of a container, and the default container, are the same each time")
    func sameObjects() throws {
        let device = TestDevice(ScriptedTransport(answering: "{}"))
        let databases = CKDatabase.Scope.all.map(device.container.database(with:))
        #expect(databases.map(\.databaseScope) == [.public, .private, .shared])
        #expect(databases[0] === device.container.publicCloudDatabase)
        #expect(databases[1] === device.container.privateCloudDatabase)
        #expect(databases[2] === device.container.sharedCloudDatabase)
        DeviceSession.$current.withValue(device.session) {
            let container = CKContainer.default()
            #expect(container === CKContainer.default())
            #expect(container.containerIdentifier == "iCloud.default")
            #expect(CKContainer(identifier: "x").connection.session === device.session)
        }
    }

    @Test("A database works on after its container was let go")
    func aDatabaseKeepsItsContainer() async throws {
        let transport = ScriptedTransport(answering: Answer.zones())
        let database = CKContainer(
            identifier: "iCloud.gone",
            session: TestDevice(transport).session
        ).privateCloudDatabase
        #expect(try await database.allRecordZones().isEmpty)
    }

    @Test("OP-7: a configured database and container hand on configuration and group")
    func configuredWith() async throws {
        let transport = ScriptedTransport(answering: Answer.zones())
        let device = TestDevice(transport)
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 7
        let group = CKOperationGroup()
        let count = try await device.container.configuredWith(
            configuration: configuration,
            group: group
        ) { container in
            try await container.privateCloudDatabase.allRecordZones().count
        }
        #expect(count == 0)
        let isOther = device.database.configuredWith(group: group) { $0 !== device.database }
        #expect(isOther)
        #expect(transport.sent.map(\.timeout) == [.seconds(7)])
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Operation-Group-ID"] }
                == [group.operationGroupID]
        )
    }

    @Test("OP-5: operations that wait for the network keep no other one from running")
    func patientOperations() async {
        let transport = ScriptedTransport { sent, _ in
            if sent.endpoint == "private zones/list" { throw TransportError.unreachable("off") }
            return .json(EchoServer.answer(sent))
        }
        let device = TestDevice(transport, clock: ManualClock())
        let waiting = (0..<DeviceSession.maximumRunningOperations).map { _ in
            let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            operation.qualityOfService = .utility
            return operation
        }
        for operation in waiting { device.database.add(operation) }
        let urgent = CKFetchRecordsOperation(recordIDs: [Sample.id("a")])
        urgent.qualityOfService = .userInitiated
        let log = CallbackLog()
        urgent.fetchRecordsResultBlock = { log.add(text($0)) }
        await device.database.runToEnd(urgent)
        #expect(log.lines == ["success"])
        for operation in waiting { operation.cancel() }
    }

    @Test("OP-7: convenience methods have a low priority, unless the database is configured")
    func priorities() async {
        let gate = Gate()
        let transport = ScriptedTransport { sent, _ in
            await gate.wait()
            return .json(EchoServer.answer(sent))
        }
        let device = TestDevice(transport)
        func priorities(_ call: (CKDatabase) -> Void) -> [Operation.QueuePriority] {
            let before = Set(device.session.operations.operations)
            call(device.database)
            return device.session.operations.operations.filter { !before.contains($0) }
                .map(\.queuePriority)
        }
        let plain = priorities { $0.fetchAllRecordZones { _, _ in } }
        let configured = priorities { database in
            database.configuredWith(configuration: CKOperation.Configuration()) {
                $0.fetchAllRecordZones { _, _ in }
            }
        }
        let grouped = priorities { database in
            database.configuredWith(group: CKOperationGroup()) {
                $0.fetchAllRecordZones { _, _ in }
            }
        }
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let own = priorities { $0.add(operation) }
        #expect([plain, configured, grouped, own] == [[.low], [.normal], [.normal], [.normal]])
        await operation.finished { gate.open() }
    }

    @Test("OP-7: a configured container's own methods run with configuration and group")
    func configuredContainerMethods() async throws {
        let transport = ScriptedTransport(answering: #"{"userRecordName":"_me"}"#)
        let container = TestDevice(transport).container
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 7
        let group = CKOperationGroup()
        try await container.configuredWith(configuration: configuration, group: group) { inner in
            _ = try await inner.accountStatus()
            _ = await withCheckedContinuation { continuation in
                inner.accountStatus { status, _ in continuation.resume(returning: status) }
            }
        }
        // Of a group's own configuration as well, and of the outer one inside another.
        group.defaultConfiguration.timeoutIntervalForRequest = 8
        try await container.configuredWith(group: group) { outer in
            _ = try await outer.configuredWith { try await $0.accountStatus() }
        }
        _ = try await container.accountStatus()
        #expect(transport.sent.map(\.timeout) == [7, 7, 8, 60].map { .seconds($0) })
        let id = group.operationGroupID
        #expect(
            transport.sent.map { $0.headers["X-Tidebell-Operation-Group-ID"] } == [id, id, id, nil]
        )
    }

    @Test("OP-5, OP-7: a container configured for utility waits for the network")
    func configuredContainerWaits() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, number in
            if number < 4 { throw TransportError.unreachable("no route") }
            return .json(#"{"userRecordName":"_me"}"#)
        }
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .utility
        let name = try await TestDevice(transport, clock: clock).container.configuredWith(
            configuration: configuration
        ) { container in
            async let id = container.userRecordID()
            for wait in [0.5, 1, 2, 4] {
                await clock.untilSleeping()
                clock.advance(by: .seconds(wait))
            }
            return try await id.recordName
        }
        #expect(name == "_me")
    }
}
