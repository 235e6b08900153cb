// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct FetchRecordsTests {
    @Test("REC-13: one request for each zone, in the order of the IDs, each ID once")
    func oneRequestForEachZone() async throws {
        let other = CKRecordZone.ID(zoneName: "Shared", ownerName: "_o")
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("a"), Answer.record("c")),
            Answer.records(Answer.record("b", zone: "Shared"))
        )
        let ids = [
            Sample.id("a"), Sample.id("b", zone: other), Sample.id("c"), Sample.id("a"),
        ]
        let records = try await TestDevice(transport).database.records(for: ids, desiredKeys: ["k"])
        #expect(
            transport.sent.map(\.body) == [
                #"{"zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"records":[{"recordName":"a"},{"recordName":"c"}],"desiredKeys":["k"]}"#,
                #"{"zoneID":{"zoneName":"Shared","ownerRecordName":"_o","zoneType":"REGULAR_CUSTOM_ZONE"},"records":[{"recordName":"b"}],"desiredKeys":["k"]}"#,
            ]
        )
        #expect(Set(records.keys) == Set(ids))
        // The ID is spelled as the app spelled it.
        #expect(try records[ids[1]]?.get().recordID.zoneID == other)
    }

    @Test("An answer with another record than was asked for is refused")
    func anotherRecord() async throws {
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("b")))
        let result = try await TestDevice(transport).database.records(for: [Sample.id("a")])
        #expect(
            result.mapValues { text($0) } == [
                Sample.id("a"):
                    "internalError: The server was asked for record 'a' and answered with "
                    + "record 'b'."
            ]
        )
    }

    @Test("LIMIT-5: more than 200 records of a zone are fetched in pages")
    func pagesOf200() async throws {
        let names = (0..<201).map { "r\($0)" }
        let transport = ScriptedTransport { _, number in
            let page = number == 0 ? names.prefix(200) : names.suffix(1)
            let items = page.map { Answer.record($0) }.joined(separator: ",")
            return .json(#"{"records":[\#(items)]}"#)
        }
        let records = try await TestDevice(transport).database
            .records(for: names.map { Sample.id($0) })
        #expect(records.count == 201)
        #expect(
            transport.sent.map { $0.body.components(separatedBy: "recordName").count - 1 }
                == [200, 1]
        )
    }

    @Test("LIMIT-20: records that are too much for one answer are fetched in halves")
    func halves() async throws {
        let names = (0..<9).map { "r\($0)" }
        let transport = ScriptedTransport { sent, _ in
            let asked = names.filter { sent.body.contains("\"\($0)\"") }
            // The last one is too large, also alone.
            guard asked.count < 4, !asked.contains("r8") else {
                return .json("too much", status: 413)
            }
            let items = asked.map { Answer.record($0) }.joined(separator: ",")
            return .json(#"{"records":[\#(items)]}"#)
        }
        let records = try await TestDevice(transport).database
            .records(for: names.map { Sample.id($0) })
        #expect(records.count == 9)
        let failed = records.filter { (try? $0.value.get()) == nil }
        #expect(failed.keys.map(\.recordName) == ["r8"])
        #expect(failed.values.allSatisfy { $0.error?.code == .limitExceeded })
    }

    @Test("LIMIT-1: more than 400 IDs are refused with Apple's sentence")
    func tooManyIDs() async {
        let transport = ScriptedTransport(answering: "{}")
        let ids = (0..<500).map { Sample.id("r\($0)") }
        let result = await Result { try await TestDevice(transport).database.records(for: ids) }
        #expect(
            text(result) == "limitExceeded: Your request contains 500 items which is more than "
                + "the maximum number of items in a single request (400); split it into several"
        )
        #expect(transport.sent.isEmpty)
    }

    @Test("OP-3, REC-12: item callbacks come once each, before the result")
    func callbackOrder() async {
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.record("a"), Answer.failedRecord("b", "NOT_FOUND"), Answer.tombstone("c")
            )
        )
        let operation = CKFetchRecordsOperation(recordIDs: ["a", "b", "c"].map { Sample.id($0) })
        let log = CallbackLog()
        operation.perRecordProgressBlock = { log.add("progress \($0.recordName) \($1)") }
        operation.perRecordResultBlock = { log.add("record \($0.recordName) \(text($1))") }
        operation.fetchRecordsResultBlock = { log.add("result \(text($0))") }
        operation.completionBlock = { log.add("completionBlock") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "progress a 1.0", "record a success",
                "record b unknownItem: because of NOT_FOUND",
                "record c unknownItem: Record 'c' was deleted.", "result success",
                "completionBlock",
            ]
        )
    }

    @Test("ERR-3, ERR-4: the old callbacks get a partialFailure by record ID")
    func partialFailure() async throws {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("a"), Answer.failedRecord("b", "NOT_FOUND"))
        )
        let operation = CKFetchRecordsOperation(recordIDs: [Sample.id("a"), Sample.id("b")])
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        OldFetchRecords().on(operation, log, errors: errors)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "record a there nil", "record b nil unknownItem: because of NOT_FOUND",
                "completion [a] partialFailure: Failed to modify some items (1).",
            ]
        )
        #expect(errors.current?.partialCodes == [Sample.id("b"): .unknownItem])
    }

    @Test("OP-13: a failure of the whole ends the operation, with every item reported once")
    func aFailureOfTheWhole() async {
        let transport = ScriptedTransport { _, _ in throw TransportError.unreachable("no") }
        let ids = [Sample.id("a"), Sample.id("b", zone: .default)]
        let operation = CKFetchRecordsOperation(recordIDs: ids)
        let log = CallbackLog()
        OldFetchRecords().on(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        let reason =
            "networkUnavailable: The server cannot be reached (no). Is it running, and is its "
            + "address right (TIDEBELL_SERVER, or of tidebell login)?"
        #expect(
            log.lines == [
                "record a nil \(reason)", "record b nil \(reason)", "completion [] \(reason)",
            ]
        )
        #expect(transport.sent.count == 1)
    }

    @Test("REC-13: the current user's record is fetched by the name the server gives")
    func theCurrentUsersRecord() async {
        let transport = ScriptedTransport(
            answering: #"{"userRecordName":"_me"}"#,
            Answer.records(Answer.record("_me", type: "Users", zone: "_defaultZone"))
        )
        let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        let log = CallbackLog()
        operation.perRecordResultBlock = { log.add("record \($0.recordName) \(text($1))") }
        operation.fetchRecordsResultBlock = { log.add("result \(text($0))") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["record _me success", "result success"])
        #expect(
            transport.sent.map(\.endpoint) == ["public users/caller", "private records/lookup"])
    }

    @Test("The convenience forms for one record")
    func convenienceFormsForOneRecord() async throws {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("a")),
            Answer.records(Answer.failedRecord("a", "NOT_FOUND"))
        )
        let database = TestDevice(transport).database
        #expect(try await database.record(for: Sample.id("a")).recordChangeTag == "t1")
        let missing = await withCheckedContinuation { continuation in
            database.fetch(withRecordID: Sample.id("a")) { record, error in
                continuation.resume(returning: "\(record == nil) \(text(error))")
            }
        }
        #expect(missing == "true unknownItem: because of NOT_FOUND")
    }
}
