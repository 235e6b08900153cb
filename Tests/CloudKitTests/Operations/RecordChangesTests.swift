// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct RecordChangesTests {
    @Test("TOK-28: the old operation fetches one page of one zone")
    func onePage() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.page(
                    "Notes", token: "s2", more: true, clientToken: "AQI=",
                    Answer.record("a"), Answer.tombstone("b"))
            )
        )
        let log = CallbackLog()
        let old: any OldRecordChanges = OldRecordChangesRun()
        #expect(await old.run(Sample.zoneID, on: TestDevice(transport).database, log))
        #expect(
            log.lines == ["changed a", "deleted b", "completion <s2> [1, 2] nil"]
        )
        #expect(
            transport.sent.map { "\($0.endpoint) \($0.body)" } == [
                #"private changes/zone {"zones":[{"zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"syncToken":"s1","resultsLimit":2,"desiredKeys":["k"]}]}"#
            ]
        )
    }

    @Test("TOK-28: the zone's error, not a summary, ends the old operation")
    func theZonesError() async {
        let zone = #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me"}"#
        let transport = ScriptedTransport(
            answering: Answer.zones(Answer.failure(zone, "ZONE_NOT_FOUND")))
        let log = CallbackLog()
        let old: any OldRecordChanges = OldRecordChangesRun()
        #expect(await !old.run(Sample.zoneID, on: TestDevice(transport).database, log))
        #expect(log.lines == ["completion nil nil zoneNotFound: because of ZONE_NOT_FOUND"])
    }

    @Test("TOK-28: without a zone the old operation is refused")
    func noZone() async {
        let transport = ScriptedTransport(answering: "{}")
        let log = CallbackLog()
        let old: any OldRecordChanges = OldRecordChangesRun()
        #expect(await !old.run(nil, on: TestDevice(transport).database, log))
        #expect(
            log.lines == [
                "completion nil nil invalidArguments: The operation has no zone to fetch changes "
                    + "of: set recordZoneID."
            ]
        )
        #expect(transport.sent.isEmpty)
    }
}

/// The deprecated operation, behind a requirement that is not.
private protocol OldRecordChanges: Sendable {
    /// Runs it from the token "s1" on; returns whether more is coming.
    func run(_ zoneID: CKRecordZone.ID?, on database: CKDatabase, _ log: CallbackLog) async -> Bool
}

private struct OldRecordChangesRun: OldRecordChanges {
    @available(*, deprecated)
    func run(
        _ zoneID: CKRecordZone.ID?,
        on database: CKDatabase,
        _ log: CallbackLog
    ) async -> Bool {
        let operation = CKFetchRecordChangesOperation()
        operation.recordZoneID = zoneID
        operation.previousServerChangeToken = CKServerChangeToken(data: Data("s1".utf8))
        operation.resultsLimit = 2
        operation.desiredKeys = ["k"]
        operation.recordChangedBlock = { log.add("changed \($0.recordID.recordName)") }
        operation.recordWithIDWasDeletedBlock = { log.add("deleted \($0.recordName)") }
        operation.fetchRecordChangesCompletionBlock = { token, data, error in
            let token = token.map { "<\(String(decoding: $0.data, as: UTF8.self))>" } ?? "nil"
            let data = data.map { "\([UInt8]($0))" } ?? "nil"
            log.add("completion \(token) \(data) \(text(error))")
        }
        await database.runToEnd(operation)
        return operation.moreComing
    }
}
