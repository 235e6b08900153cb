// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Atomic batches", .finishesClouds)
struct AtomicityTests {
    private let second = CKRecordZone.ID(zoneName: "Second")

    @Test(
        "SAVE-14, SAVE-15, T-16: in a custom zone one failure rolls back the whole batch, deletions too"
    )
    func rollBack() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        _ = try await database.modifyRecords(saving: [item("taken"), item("old")], deleting: [])
        let before = try await home.cloud.dump()
        let results = try await database.modifyRecords(
            saving: [item("new"), item("taken", "again")],
            deleting: [itemID("old")]
        )
        #expect(results.saveResults[itemID("taken")]?.ckCode == .serverRecordChanged)
        #expect(results.saveResults[itemID("new")]?.ckCode == .batchRequestFailed)
        #expect(results.deleteResults[itemID("old")]?.ckCode == .batchRequestFailed)
        #expect(try await home.cloud.dump() == before)
    }

    @available(*, deprecated)
    @Test(
        "SAVE-15: the old completion block gets partialFailure with the culprit's and the others' errors"
    )
    func partialFailure() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("taken"))
        let log = Log<String>()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [item("new"), item("taken")],
            recordIDsToDelete: nil
        )
        operation.perRecordCompletionBlock = { record, error in
            log.append("\(record.recordID.recordName) \((error as? CKError)?.code.rawValue ?? 0)")
        }
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            let error = error as? CKError
            let parts = error?.partialErrorsByItemID ?? [:]
            for name in ["new", "taken"] {
                let part = parts[itemID(name)] as? CKError
                log.append("part \(name) \(part?.code.rawValue ?? 0)")
            }
            log.append("done \((saved ?? []).count) \(error?.code.rawValue ?? 0)")
        }
        await database.run(operation)
        #expect(log.entries.prefix(2).sorted() == ["new 22", "taken 14"])
        #expect(Array(log.entries.dropFirst(2)) == ["part new 22", "part taken 14", "done 0 2"])
    }

    @Test("SAVE-14: without isAtomic what can be saved is")
    func notAtomic() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("taken"))
        let results = try await database.modifyRecords(
            saving: [item("new"), item("taken")],
            deleting: [],
            atomically: false
        )
        #expect(results.saveResults[itemID("new")]?.ckCode == nil)
        #expect(results.saveResults[itemID("taken")]?.ckCode == .serverRecordChanged)
        #expect(try await database.record(for: itemID("new")).recordID == itemID("new"))
    }

    @Test("SAVE-16: in the default zone each record succeeds or fails alone, even with isAtomic")
    func defaultZone() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("taken", zone: .default))
        let results = try await database.modifyRecords(
            saving: [item("new", zone: .default), item("taken", zone: .default)],
            deleting: [],
            atomically: true
        )
        #expect(results.saveResults[itemID("new", zone: .default)]?.ckCode == nil)
        #expect(
            results.saveResults[itemID("taken", zone: .default)]?.ckCode == .serverRecordChanged
        )
    }

    @Test(
        "SAVE-14, SAVE-18: one operation may mix zones; the failure of one leaves the other alone")
    func severalZones() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(CKRecordZone(zoneID: second))
        try await database.save(item("taken"))
        let results = try await database.modifyRecords(
            saving: [
                item("new"), item("taken"), item("a", zone: second), item("b", zone: .default),
            ],
            deleting: []
        )
        #expect(results.saveResults[itemID("new")]?.ckCode == .batchRequestFailed)
        #expect(results.saveResults[itemID("taken")]?.ckCode == .serverRecordChanged)
        #expect(results.saveResults[itemID("a", zone: second)]?.ckCode == nil)
        #expect(results.saveResults[itemID("b", zone: .default)]?.ckCode == nil)
    }

    @Test("SAVE-19: every item's block is called once, progress reaches 1.0, all before the result")
    func blocks() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("old"))
        let log = Log<String>()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [item("a"), item("b")],
            recordIDsToDelete: [itemID("old")]
        )
        operation.perRecordProgressBlock = { record, progress in
            if progress == 1 { log.append("progress \(record.recordID.recordName)") }
        }
        operation.perRecordSaveBlock = { id, result in
            log.append("save \(id.recordName) \(result.ckCode?.rawValue ?? 0)")
        }
        operation.perRecordDeleteBlock = { id, result in
            log.append("delete \(id.recordName) \(result.ckCode?.rawValue ?? 0)")
        }
        operation.modifyRecordsResultBlock = { log.append("result \($0.ckCode?.rawValue ?? 0)") }
        await database.run(operation)
        #expect(log.entries.last == "result 0")
        #expect(
            log.entries.dropLast().sorted()
                == ["delete old 0", "progress a", "progress b", "save a 0", "save b 0"]
        )
    }

    @available(*, deprecated)
    @Test("SAVE-22: an operation with nothing to do succeeds with empty results")
    func nothing() async throws {
        let home = try await Household()
        let results = try await home.phone.privateDatabase.modifyRecords(saving: [], deleting: [])
        #expect(results.saveResults.isEmpty && results.deleteResults.isEmpty)
        let log = Log<String>()
        let operation = CKModifyRecordsOperation()
        operation.modifyRecordsCompletionBlock = { saved, deleted, error in
            log.append("\(saved?.count ?? 0) \(deleted?.count ?? 0) \(error == nil)")
        }
        await home.phone.privateDatabase.run(operation)
        #expect(log.entries == ["0 0 true"])
    }

    @Test("SAVE-11: a missing zone is zoneNotFound for its records, the others are saved")
    func missingZone() async throws {
        let home = try await Household()
        let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
        let results = try await home.phone.privateDatabase.modifyRecords(
            saving: [item("a", zone: nowhere), item("b")],
            deleting: []
        )
        let error = results.saveResults[itemID("a", zone: nowhere)]
        #expect(error?.ckCode == .zoneNotFound)
        #expect(results.saveResults[itemID("b")]?.ckCode == nil)
    }

    @Test(
        "SAVE-17: a record that is malformed on the device fails its atomic zone without a request, no other zone"
    )
    func malformedRecord() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(CKRecordZone(zoneID: second))
        let lost = item("lost")
        lost.setParent(itemID("root", zone: second))
        let results = try await database.modifyRecords(
            saving: [item("good"), lost, item("elsewhere", zone: second)],
            deleting: []
        )
        #expect(results.saveResults[itemID("lost")]?.ckCode == .invalidArguments)
        #expect(results.saveResults[itemID("good")]?.ckCode == .batchRequestFailed)
        #expect(results.saveResults[itemID("elsewhere", zone: second)]?.ckCode == nil)
    }
}
