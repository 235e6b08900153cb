// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// What saving and deleting records reports to the app.
@Suite struct ModifyRecordsOutcomeTests {
    @Test("SAVE-29: a saved record has the server's fields and no changed keys")
    func aSavedRecordHasTheServersFields() async throws {
        let record = Sample.knownRecord("n")
        record.setParent(Sample.id("p"))
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("n", tag: "t2")))
        let saved = try await TestDevice(transport).database.save(record)
        #expect(saved === record)
        #expect(record.recordChangeTag == "t2")
        #expect(record.modificationDate == Date(timeIntervalSince1970: 2.5))
        #expect(record.changedKeys() == [])
        #expect(record.isParentChanged == false)
        #expect(record["same"] as? Int == 1)
    }

    @Test("OP-3, SAVE-19: item callbacks come once each, in order, before the result")
    func callbackOrder() async {
        let log = CallbackLog()
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.record("a"), Answer.failedRecord("b", "QUOTA_EXCEEDED"),
                Answer.tombstone("c"), Answer.failedRecord("d", "ACCESS_DENIED")
            )
        )
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("a"), Sample.record("b")],
            recordIDsToDelete: [Sample.id("c"), Sample.id("d")]
        )
        operation.perRecordProgressBlock = { log.add("progress \($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { log.add("save \($0.recordName) \(text($1))") }
        operation.perRecordDeleteBlock = { log.add("delete \($0.recordName) \(text($1))") }
        operation.modifyRecordsResultBlock = { log.add("result \(text($0))") }
        operation.completionBlock = { log.add("completionBlock") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "progress a 1.0", "save a success",
                "save b quotaExceeded: because of QUOTA_EXCEEDED", "delete c success",
                "delete d permissionFailure: because of ACCESS_DENIED", "result success",
                "completionBlock",
            ]
        )
    }

    @Test("OP-11: of old and new callbacks the new ones are called")
    func newCallbacksWin() async {
        let log = CallbackLog()
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("a")))
        let operation = CKModifyRecordsOperation(recordsToSave: [Sample.record("a")])
        OldModifyRecords().on(operation, log)
        operation.perRecordSaveBlock = { log.add("new save \($0.recordName) \(text($1))") }
        operation.modifyRecordsResultBlock = { log.add("new result \(text($0))") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["new save a success", "new result success"])
    }

    @Test("ERR-3, ERR-4, SAVE-15: the old completion gets a partialFailure by record ID")
    func partialFailure() async throws {
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.failedRecord("a", "ATOMIC_ERROR"), Answer.failedRecord("b", "CONFLICT"),
                Answer.failedRecord("c", "ATOMIC_ERROR")
            )
        )
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("a"), Sample.record("b")],
            recordIDsToDelete: [Sample.id("c")]
        )
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        OldModifyRecords().on(operation, log, errors: errors)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "save a batchRequestFailed: because of ATOMIC_ERROR",
                "save b serverRecordChanged: because of CONFLICT",
                "completion saved [] deleted [] partialFailure: Failed to modify some items (3).",
            ]
        )
        let error = try #require(errors.current)
        #expect(
            error.partialCodes == [
                Sample.id("a"): .batchRequestFailed, Sample.id("b"): .serverRecordChanged,
                Sample.id("c"): .batchRequestFailed,
            ]
        )
        #expect(error.userInfo["RequestUUID"] as? String == "REQUEST-1")
    }

    @Test(
        "SAVE-6, SAVE-8: a conflict carries the server's and the client's record",
        arguments: [CKError.Code.serverRecordChanged, .serverRejectedRequest]
    )
    func aConflictCarriesBothRecords(code: CKError.Code) async throws {
        let server = Answer.record(
            "n",
            tag: "t7",
            fields: #"{"a":{"value":"theirs","type":"STRING"}}"#
        )
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.failedRecord(
                    "n",
                    "EXISTS",
                    ext: #","ext":{"ckCode":\#(code.rawValue),"serverRecord":\#(server)}"#
                )
            )
        )
        let record = Sample.record("n")
        let result = await Result { try await TestDevice(transport).database.save(record) }
        let error = try #require(result.error)
        #expect(error.code == code)
        #expect(error.clientRecord === record)
        #expect(error.ancestorRecord == nil)
        #expect(error.serverRecord?.recordID == record.recordID)
        #expect(error.serverRecord?.recordChangeTag == "t7")
        #expect(error.serverRecord?["a"] as? String == "theirs")
        #expect(record.recordChangeTag == nil)
    }

    @Test("SAVE-17: a malformed record fails the others of its atomic zone, unsent")
    func aMalformedRecordFailsItsZone() async {
        let malformed = Sample.record("bad")
        malformed["f"] = Double.nan
        let other = Sample.record("x", zone: CKRecordZone.ID(zoneName: "Other"))
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("x", zone: "Other"))
        )
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("good"), malformed, other]
        )
        let log = CallbackLog()
        OldModifyRecords().on(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "save good batchRequestFailed: Another record of zone 'Notes' cannot be saved, "
                    + "and the zone's changes are atomic.",
                "save bad invalidArguments: Field 'f' of record 'bad' cannot be saved: nan is not "
                    + "a number that CloudKit can store.",
                "save x nil",
                "completion saved [x] deleted [] partialFailure: Failed to modify some items (2).",
            ]
        )
        #expect(transport.sent.count == 1)
    }

    @Test("SAVE-17, REF-9: without atomicity a malformed record fails alone")
    func aMalformedRecordFailsAlone() async throws {
        let malformed = Sample.record("child")
        malformed.setParent(Sample.id("p", zone: CKRecordZone.ID(zoneName: "Other")))
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("good")))
        let results = try await TestDevice(transport).database.modifyRecords(
            saving: [Sample.record("good"), malformed],
            deleting: [],
            atomically: false
        )
        #expect(
            results.saveResults.mapValues { text($0) } == [
                Sample.id("good"): "success",
                Sample.id("child"): "invalidArguments: The parent of record 'child' is in zone "
                    + "'Other', but must be in the record's zone 'Notes'.",
            ]
        )
    }

    @Test("A record that stands twice is refused the second time")
    func aRepeatedRecordIsRefused() async {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("n", zone: "_defaultZone"))
        )
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("n", zone: .default)],
            recordIDsToDelete: [Sample.id("n", zone: .default)]
        )
        let log = CallbackLog()
        operation.perRecordSaveBlock = { log.add("save \($0.recordName) \(text($1))") }
        operation.perRecordDeleteBlock = { log.add("delete \($0.recordName) \(text($1))") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "delete n invalidArguments: Record 'n' is in the operation twice; save or "
                    + "delete it once.",
                "save n success",
            ]
        )
    }

    @Test("REC-11: encrypted fields are refused for the public database")
    func encryptedFieldsAreNotPublic() async {
        let record = Sample.record("n", zone: .default)
        record.encryptedValues["secret"] = 1
        let transport = ScriptedTransport(answering: "{}")
        let result = await Result {
            try await TestDevice(transport).container.publicCloudDatabase.save(record)
        }
        #expect(
            text(result) == "invalidArguments: Field 'secret' of record 'n' is encrypted, which "
                + "the public database does not support: save it there as a plain field, or the "
                + "record in the private database."
        )
    }

    @Test("LIMIT-12: a record with more than 256 fields is named, and not sent; 256 are")
    func tooManyFields() async {
        let record = Sample.record("n")
        for number in 1...257 { record["f\(number)"] = number }
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("n")))
        let database = TestDevice(transport).database
        #expect(
            text(await Result { try await database.save(record) })
                == "invalidArguments: Record 'n' has 257 fields, of which a record can have 256: "
                + "spread them over records, or keep what is not queried in one."
        )
        #expect(transport.sent.isEmpty)
        record["f257"] = nil
        _ = await Result { try await database.save(record) }
        #expect(transport.sent.count == 1)
    }

    @Test("SAVE-11: a zone that does not exist fails its records, other zones succeed")
    func aMissingZoneFailsItsRecords() async throws {
        let transport = ScriptedTransport { _, number in
            if number > 0 { return .json(Answer.records(Answer.record("b", zone: "Other"))) }
            return .json(
                #"{"serverErrorCode":"ZONE_NOT_FOUND","reason":"Zone 'Notes' does not exist"}"#,
                status: 404
            )
        }
        let other = Sample.record("b", zone: CKRecordZone.ID(zoneName: "Other"))
        let results = try await TestDevice(transport).database
            .modifyRecords(saving: [Sample.record("a"), other], deleting: [])
        #expect(
            results.saveResults.mapValues { text($0) } == [
                Sample.id("a"):
                    "zoneNotFound: Zone 'Notes' does not exist; save a CKRecordZone first",
                other.recordID: "success",
            ]
        )
    }

    @Test("OP-13: a failure of the whole ends the operation, with every item reported once")
    func aFailureOfTheWhole() async {
        let transport = ScriptedTransport { _, number in
            if number == 1 { throw TransportError.unreachable("cut") }
            return .json(Answer.records(Answer.record("a")))
        }
        let records = ["One", "Two", "Three"].map { zone in
            Sample.record(zone, zone: CKRecordZone.ID(zoneName: zone))
        }
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        let log = CallbackLog()
        OldModifyRecords().on(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        let reason =
            "networkUnavailable: The server cannot be reached (cut). Is it running, and is its "
            + "address right (TIDEBELL_SERVER, or of tidebell login)?"
        #expect(
            log.lines == [
                "save One nil", "save Two \(reason)", "save Three \(reason)",
                "completion saved [One] deleted [] \(reason)",
            ]
        )
        #expect(transport.sent.count == 2)
    }

    @Test("An answer with another number of items is an internal error")
    func anAnswerWithAnotherNumberOfItems() async {
        let transport = ScriptedTransport(answering: Answer.records())
        let record = Sample.record("n")
        let result = await Result { try await TestDevice(transport).database.save(record) }
        #expect(
            text(result) == "internalError: The server's answer has 0 items for 1 requested ones."
        )
    }

    @Test("SAVE-23: the convenience forms for one record")
    func convenienceFormsForOneRecord() async throws {
        let transport = ScriptedTransport(answering: Answer.records(Answer.tombstone("n")))
        let database = TestDevice(transport).database
        let id = Sample.id("n")
        #expect(try await database.deleteRecord(withID: id) == id)
        let deleted = await withCheckedContinuation { continuation in
            database.delete(withRecordID: id) { id, error in
                continuation.resume(returning: "\(id?.recordName ?? "nil") \(text(error))")
            }
        }
        #expect(deleted == "n nil")
        let saved = await withCheckedContinuation { continuation in
            database.save(Sample.record("n")) { record, error in
                continuation.resume(returning: "\(record == nil) \(text(error))")
            }
        }
        #expect(
            saved
                == "true internalError: The server reports that record 'n' is deleted, but it was "
                + "to be saved."
        )
    }
}
