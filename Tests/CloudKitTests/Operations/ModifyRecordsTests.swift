// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// What saving and deleting records sends.
@Suite struct ModifyRecordsRequestTests {
    /// SAVE-1 to SAVE-3: what a policy sends of a new and of a known record.
    static let policies:
        [(policy: CKModifyRecordsOperation.RecordSavePolicy, isKnown: Bool, sent: String)] = [
            (
                .ifServerRecordUnchanged, false,
                #"{"operationType":"create","record":{"recordName":"n","recordType":"Note","fields":{"new":{"value":3,"type":"INT64"}}}}"#
            ),
            (
                .ifServerRecordUnchanged, true,
                #"{"operationType":"update","record":{"recordName":"n","recordType":"Note","recordChangeTag":"old","fields":{"gone":{"value":null},"new":{"value":3,"type":"INT64"}}}}"#
            ),
            (
                .changedKeys, false,
                #"{"operationType":"forceUpdate","record":{"recordName":"n","recordType":"Note","fields":{"new":{"value":3,"type":"INT64"}}}}"#
            ),
            (
                .changedKeys, true,
                #"{"operationType":"forceUpdate","record":{"recordName":"n","recordType":"Note","fields":{"gone":{"value":null},"new":{"value":3,"type":"INT64"}}}}"#
            ),
            (
                .allKeys, true,
                #"{"operationType":"forceUpdate","record":{"recordName":"n","recordType":"Note","fields":{"gone":{"value":null},"new":{"value":3,"type":"INT64"},"same":{"value":1,"type":"INT64"}}}}"#
            ),
        ]

    @Test("SAVE-1, SAVE-2, SAVE-3: what each policy sends", arguments: policies.indices)
    func whatAPolicySends(row: Int) async throws {
        let (policy, isKnown, operation) = Self.policies[row]
        let record = isKnown ? Sample.knownRecord("n") : Sample.record("n")
        record["new"] = 3
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("n")))
        _ = try await TestDevice(transport).database
            .modifyRecords(saving: [record], deleting: [], savePolicy: policy)
        let zone = #"{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        #expect(
            transport.sent.map(\.body) == [
                #"{"zoneID":\#(zone),"atomic":true,"desiredKeys":[],"operations":[\#(operation)]}"#
            ]
        )
    }

    @Test("REF-6: the parent is sent when it is new, changed or removed")
    func theParentIsSent() async throws {
        let child = Sample.record("child")
        child.setParent(Sample.id("p"))
        let moved = Sample.knownRecord("moved")
        moved.setParent(Sample.id("q"))
        let freed = Sample.knownRecord("freed")
        freed.replaceParent(CKRecord.Reference(recordID: Sample.id("p"), action: .none))
        freed.parent = nil
        let kept = Sample.knownRecord("kept")
        kept.replaceParent(CKRecord.Reference(recordID: Sample.id("p"), action: .none))
        let records = [child, moved, freed, kept]
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.record("child"), Answer.record("moved"), Answer.record("freed"),
                Answer.record("kept")
            )
        )
        _ = try await TestDevice(transport).database.modifyRecords(saving: records, deleting: [])
        let body = try #require(transport.sent.first?.body)
        let operations = body.components(separatedBy: #"{"operationType""#).dropFirst()
        let parents = operations.map { $0.components(separatedBy: #""parent":"#).dropFirst().first }
        #expect(
            parents == [
                #"{"recordName":"p"}}},"#, #"{"recordName":"q"}}},"#, "null}},", nil,
            ]
        )
    }

    @Test("SAVE-14, SAVE-18: one request for each zone, atomic only where zones can be")
    func oneRequestForEachZone() async throws {
        let other = CKRecordZone.ID(zoneName: "Shared", ownerName: "_o")
        let operation = CKModifyRecordsOperation(
            recordsToSave: [Sample.record("a"), Sample.record("b", zone: .default)],
            recordIDsToDelete: [Sample.id("c"), Sample.id("d", zone: other)]
        )
        operation.isAtomic = false
        operation.clientChangeTokenData = Data([1, 2, 3])
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("a"), Answer.tombstone("c")),
            Answer.records(Answer.record("b", zone: "_defaultZone")),
            Answer.records(Answer.tombstone("d"))
        )
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            transport.sent.map(\.body) == [
                #"{"zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"atomic":false,"desiredKeys":[],"clientChangeToken":"AQID","operations":[{"operationType":"create","record":{"recordName":"a","recordType":"Note","fields":{}}},{"operationType":"forceDelete","record":{"recordName":"c"}}]}"#,
                #"{"zoneID":{"zoneName":"_defaultZone","zoneType":"DEFAULT_ZONE"},"desiredKeys":[],"clientChangeToken":"AQID","operations":[{"operationType":"create","record":{"recordName":"b","recordType":"Note","fields":{}}}]}"#,
                #"{"zoneID":{"zoneName":"Shared","ownerRecordName":"_o","zoneType":"REGULAR_CUSTOM_ZONE"},"atomic":false,"desiredKeys":[],"clientChangeToken":"AQID","operations":[{"operationType":"forceDelete","record":{"recordName":"d"}}]}"#,
            ]
        )
    }

    @Test("OP-4: what is changed after the start has no effect")
    func changesAfterTheStartHaveNoEffect() async throws {
        let record = Sample.record("n")
        record["a"] = 1
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.wait()
            return .json(Answer.records(Answer.record("n", tag: "t9")))
        }
        let log = CallbackLog()
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.database = TestDevice(transport).database
        operation.modifyRecordsResultBlock = { log.add("first \(text($0))") }
        await operation.finished {
            operation.start()
            operation.start()
            operation.recordsToSave = []
            operation.modifyRecordsResultBlock = { _ in log.add("second") }
            record["a"] = 2
            record["b"] = 5
            gate.open()
        }
        #expect(log.lines == ["first success"])
        #expect(transport.sent.count == 1)
        #expect(transport.sent.first?.body.contains(#""a":{"value":1,"#) == true)
        // SAVE-29, but what the app changed meanwhile is still to be saved.
        #expect(record.recordChangeTag == "t9")
        #expect(record.changedKeys() == ["a", "b"])
    }

    @Test("LIMIT-1: more than 400 items are refused with Apple's sentence")
    func tooManyItems() async {
        let transport = ScriptedTransport(answering: "{}")
        let operation = CKModifyRecordsOperation(
            recordIDsToDelete: (0..<401).map { Sample.id("r\($0)") }
        )
        let log = CallbackLog()
        OldModifyRecords().on(operation, log)
        let deletions = CallbackLog()
        operation.perRecordDeleteBlock = { deletions.add("\($0.recordName) \(text($1))") }
        await TestDevice(transport).database.runToEnd(operation)
        let reason =
            "limitExceeded: Your request contains 401 items which is more than the maximum "
            + "number of items in a single request (400); split it into several"
        #expect(log.lines == ["completion saved [] deleted [] \(reason)"])
        #expect(deletions.lines == (0..<401).map { "r\($0) \(reason)" })
        #expect(transport.sent.isEmpty)
    }

    @Test("SAVE-22: an operation without items succeeds")
    func anEmptyOperationSucceeds() async {
        let log = CallbackLog()
        let transport = ScriptedTransport(answering: "{}")
        let operation = CKModifyRecordsOperation()
        operation.modifyRecordsResultBlock = { log.add(text($0)) }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["success"])
        #expect(transport.sent.isEmpty)
    }
}

/// Records of tests.
enum Sample {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    static func id(_ name: String, zone: CKRecordZone.ID = zoneID) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zone)
    }

    static func record(_ name: String, zone: CKRecordZone.ID = zoneID) -> CKRecord {
        CKRecord(recordType: "Note", recordID: id(name, zone: zone))
    }

    /// A record that the server knows under the tag "old", with one unchanged and one
    /// removed field.
    static func knownRecord(_ name: String) -> CKRecord {
        let record = CKRecord(
            fetched: CKRecord.Identity(recordType: "Note", recordID: id(name)),
            server: CKRecord.ServerState(recordChangeTag: "old"),
            fields: [
                CKRecord.Field(key: "same", value: .int64(1)),
                CKRecord.Field(key: "gone", value: .int64(2)),
            ]
        )
        record["gone"] = nil
        return record
    }
}

extension CKError {
    /// The code of each item's error.
    var partialCodes: [AnyHashable: CKError.Code]? {
        partialErrorsByItemID?.compactMapValues { ($0 as? CKError)?.code }
    }
}

extension CKOperation {
    /// Waits until the operation's completion block was called; `start` starts it.
    func finished(_ start: () -> Void = {}) async {
        let ended = completionBlock
        await withCheckedContinuation { continuation in
            completionBlock = {
                ended?()
                continuation.resume()
            }
            start()
        }
    }
}
