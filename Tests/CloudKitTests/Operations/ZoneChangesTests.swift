// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

@Suite(.hangs) struct ZoneChangesTests {
    static let a = CKRecordZone.ID(zoneName: "a")
    static let b = CKRecordZone.ID(zoneName: "b")
    static let missing = Answer.failure(
        #""zoneID":{"zoneName":"b","ownerRecordName":"_me"}"#,
        "ZONE_NOT_FOUND"
    )

    static func log(_ operation: CKFetchRecordZoneChangesOperation, _ log: CallbackLog) {
        operation.recordWasChangedBlock = { log.add("changed \($0.recordName) \(text($1))") }
        operation.recordWithIDWasDeletedBlock = { log.add("deleted \($0.recordName) \($1)") }
        operation.recordZoneChangeTokensUpdatedBlock = { zoneID, token, client in
            let client = client.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
            log.add("token \(zoneID.zoneName) \(token.plain) \(client)")
        }
        operation.recordZoneFetchResultBlock = { zoneID, result in
            switch result {
            case .success(let end):
                let token = end.serverChangeToken.plain
                let client =
                    end.clientChangeTokenData.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
                log.add("zone \(zoneID.zoneName) \(token) \(client) \(end.moreComing)")
            case .failure(let error): log.add("zone \(zoneID.zoneName) \(text(error))")
            }
        }
        operation.fetchRecordZoneChangesResultBlock = { log.add("result \(text($0))") }
    }

    @Test("TOK-11, TOK-14, TOK-24: pages, tokens between them, deletions with their type")
    func allPages() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.page("a", token: "a1", more: true, Answer.record("x", zone: "a")),
                Answer.page("b", token: "b1", clientToken: "Yjk=", Answer.tombstone("y"))
            ),
            Answer.zones(Answer.page("a", token: "a2", Answer.tombstone("z", type: nil)))
        )
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Self.a, Self.b, Self.a],
            configurationsByRecordZoneID: [
                Self.b: CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                    previousServerChangeToken: CKServerChangeToken(syncToken: "b0"),
                    resultsLimit: 5,
                    desiredKeys: []
                )
            ]
        )
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "changed x success", "token a a1 nil", "deleted y Note", "zone b b1 b9 false",
                "deleted z ", "zone a a2 nil false", "result success",
            ]
        )
        let zoneA = #""zoneID":{"zoneName":"a","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        let zoneB = #""zoneID":{"zoneName":"b","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        #expect(
            transport.sent.map(\.body) == [
                #"{"zones":[{\#(zoneA)},{\#(zoneB),"syncToken":"b0","resultsLimit":5,"desiredKeys":[]}]}"#,
                #"{"zones":[{\#(zoneA),"syncToken":"a1"}]}"#,
            ]
        )
    }

    @Test("TOK-11: without fetchAllChanges there is one request and no token between")
    func onePage() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.page("a", token: "a1", more: true, Answer.record("x", zone: "a"))
            )
        )
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [Self.a])
        operation.fetchAllChanges = false
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["changed x success", "zone a a1 nil true", "result success"])
    }

    @Test("TOK-19, TOK-23, ERR-3: a zone fails for itself; the old completion summarizes")
    func aZoneFailsForItself() async {
        let answer = Answer.zones(
            Answer.page(
                "a",
                token: "a1",
                Answer.record("bad", fields: #"{"k":1}"#, zone: "a"),
                Answer.record("x", zone: "a")
            ),
            Self.missing
        )
        let database = TestDevice(ScriptedTransport(answering: answer)).database
        let log = CallbackLog()
        let new = CKFetchRecordZoneChangesOperation(recordZoneIDs: [Self.a, Self.b])
        Self.log(new, log)
        await database.runToEnd(new)
        let unreadable =
            "internalError: The fields of record 'bad' cannot be read: k: expected an object, "
            + "found a number"
        #expect(
            log.lines == [
                "changed bad \(unreadable)", "changed x success", "zone a a1 nil false",
                "zone b zoneNotFound: because of ZONE_NOT_FOUND", "result success",
            ]
        )
        let oldLog = CallbackLog()
        let errors = Locked<CKError?>(nil)
        let old = CKFetchRecordZoneChangesOperation(recordZoneIDs: [Self.a, Self.b])
        OldFetchZoneChanges().on(old, oldLog, errors: errors)
        await database.runToEnd(old)
        #expect(
            oldLog.lines == [
                "changed x", "zone a a1 nil false nil",
                "zone b nil nil false zoneNotFound: because of ZONE_NOT_FOUND",
                "completion partialFailure: Failed to modify some items (2).",
            ]
        )
        #expect(
            errors.current?.partialCodes == [
                Self.b: .zoneNotFound, Sample.id("bad", zone: Self.a): .internalError,
            ]
        )
    }

    @Test("TOK-18: a failure on the way ends the zones that are not finished")
    func aFailureOnTheWay() async {
        let transport = ScriptedTransport { _, number in
            if number == 1 { throw TransportError.timedOut(.seconds(60)) }
            return .json(
                Answer.zones(
                    Answer.page("a", token: "a1", more: true, Answer.record("x", zone: "a")),
                    Answer.page("b", token: "b1")
                )
            )
        }
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [Self.a, Self.b])
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        let reason = "networkFailure: The server did not answer within 60.0 seconds."
        #expect(
            log.lines == [
                "changed x success", "token a a1 nil", "zone b b1 nil false", "zone a \(reason)",
                "result \(reason)",
            ]
        )
    }

    /// Answers with pages of one record each of the zone "a", and signals each request.
    private static func pages(_ count: Int, _ came: DispatchSemaphore) -> ScriptedTransport {
        ScriptedTransport { _, number in
            came.signal()
            let page = Answer.page(
                "a", token: "a\(number)", more: number < count - 1,
                Answer.record("x\(number)", zone: "a"))
            return .json(Answer.zones(page))
        }
    }

    /// An operation that fetches zones and logs what it calls.
    private static func fetch(
        _ zoneIDs: [CKRecordZone.ID] = [a], logging log: CallbackLog
    ) -> CKFetchRecordZoneChangesOperation {
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: zoneIDs)
        Self.log(operation, log)
        return operation
    }

    @Test("OP-3: while the app has a page the next one is on its way, and only that one")
    func onePageAhead() async {
        let came = DispatchSemaphore(value: 0)
        let transport = Self.pages(3, came)
        let log = CallbackLog()
        let operation = Self.fetch(logging: log)
        operation.recordWasChangedBlock = { id, _ in
            // The request for this page, and in the first two callbacks the one after it.
            if log.lines.isEmpty { came.wait() }
            if id.recordName != "x2" { came.wait() }
            log.add("\(id.recordName) after \(transport.sent.count)")
        }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "x0 after 2", "token a a0 nil", "x1 after 3", "token a a1 nil", "x2 after 3",
                "zone a a2 nil false", "result success",
            ]
        )
    }

    @Test("What was fetched ahead is not handed to an app that has cancelled")
    func cancelledWhileAPageIsAhead() async {
        let came = DispatchSemaphore(value: 0)
        let log = CallbackLog()
        let operation = Self.fetch(logging: log)
        operation.recordZoneChangeTokensUpdatedBlock = { [unowned operation] _, token, _ in
            for _ in 0..<2 { came.wait() }
            log.add("token \(token.plain)")
            operation.cancel()
        }
        await TestDevice(Self.pages(2, came)).database.runToEnd(operation)
        #expect(log.lines.prefix(2) == ["changed x0 success", "token a0"])
        #expect(
            log.lines.dropFirst(2).map { $0.contains("operationCancelled") } == [true, true])
    }

    @Test(
        "A page that was ahead for half an hour is fetched again: its links may not be good any more"
    )
    func aPageThatWaited() async {
        let came = DispatchSemaphore(value: 0)
        let transport = Self.pages(2, came)
        let log = CallbackLog()
        let operation = Self.fetch(logging: log)
        let time = Locked(Instant(rawValue: 0))
        operation.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
            for _ in 0..<2 { came.wait() }
            log.add("token \(token.plain)")
            time.current = Instant(rawValue: 3_600_000)
        }
        await TestDevice(transport, now: { time.current }).database.runToEnd(operation)
        #expect(transport.sent.count == 3)
        #expect(
            log.lines == [
                "changed x0 success", "token a0", "changed x2 success", "zone a a2 nil false",
                "result success",
            ]
        )
    }

    @Test("Zones behind those of a request that failed are not asked for")
    func furtherZonesOfAFailedOperation() async {
        let transport = ScriptedTransport { _, _ in throw TransportError.timedOut(.seconds(60)) }
        let zones = (0...FetchZoneChangesWork.zonesPerRequest).map {
            CKRecordZone.ID(zoneName: "z\($0)")
        }
        let log = CallbackLog()
        let operation = Self.fetch(zones, logging: log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(transport.sent.count == 1)
        #expect(log.lines.count { $0.hasPrefix("zone z") } == zones.count)
    }

    @Test("A zone for which a page had no room goes on; a server that stands still is left")
    func zonesWithoutRoom() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.page("a", token: "a1", more: true, Answer.record("x", zone: "a")),
                Answer.page("b", token: "b0", more: true)
            ),
            Answer.zones(
                Answer.page("a", token: "a2", more: true),
                Answer.page("b", token: "b0", more: true)
            ),
            Answer.zones(
                Answer.page("a", token: "a2", more: true),
                Answer.page("b", token: "b0", more: true)
            )
        )
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Self.a, Self.b],
            configurationsByRecordZoneID: [
                Self.b: CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                    previousServerChangeToken: CKServerChangeToken(syncToken: "b0")
                )
            ]
        )
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        let reason =
            "internalError: The server reports that more changes are coming, but does not move on."
        #expect(
            log.lines == [
                "changed x success", "token a a1 nil", "token a a2 nil", "zone a \(reason)",
                "zone b \(reason)", "result \(reason)",
            ]
        )
        #expect(transport.sent.count == 3)
    }

    @Test("Many zones are fetched in requests of twenty")
    func manyZones() async {
        let names = (0..<45).map { "z\($0)" }
        let transport = ScriptedTransport { sent, number in
            let share = names.dropFirst(number * 20).prefix(20)
            let pages = share.map { Answer.page($0, token: "t") }
            return .json(#"{"zones":[\#(pages.joined(separator: ","))]}"#)
        }
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: names.map { CKRecordZone.ID(zoneName: $0) }
        )
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == names.map { "zone \($0) t nil false" } + ["result success"])
        #expect(
            transport.sent.map { $0.body.components(separatedBy: "zoneName").count - 1 }
                == [20, 20, 5]
        )
    }

    @Test("A zone with a foreign token fails for itself, without zones nothing is asked")
    func withoutZones() async {
        let transport = ScriptedTransport(answering: "{}")
        let database = TestDevice(transport).database
        let log = CallbackLog()
        let empty = CKFetchRecordZoneChangesOperation()
        Self.log(empty, log)
        await database.runToEnd(empty)
        let foreign = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [Self.a],
            configurationsByRecordZoneID: [
                Self.a: CKFetchRecordZoneChangesOperation.ZoneConfiguration(
                    previousServerChangeToken: CKServerChangeToken(data: Data([0xFF]))
                )
            ]
        )
        Self.log(foreign, log)
        await database.runToEnd(foreign)
        #expect(
            log.lines == [
                "result success",
                "zone a changeTokenExpired: The change token was made by another service; fetch "
                    + "without a token.",
                "result success",
            ]
        )
        #expect(transport.sent.isEmpty)
    }

    @Test("TOK-27: the convenience form makes one request and throws the zone's error")
    func theConvenienceForm() async throws {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.page(
                    "a",
                    token: "a1",
                    more: true,
                    Answer.record("x", zone: "a"),
                    Answer.tombstone("y")
                )
            ),
            Answer.zones(Self.missing)
        )
        let database = TestDevice(transport).database
        let changes = try await database.recordZoneChanges(inZoneWith: Self.a, since: nil)
        let x = Sample.id("x", zone: Self.a)
        #expect(
            try changes.modificationResultsByID.mapValues { try $0.get().record.recordID } == [x: x]
        )
        #expect(
            changes.deletions == [
                CKDatabase.RecordZoneChange.Deletion(
                    recordID: Sample.id("y", zone: Self.a),
                    recordType: "Note"
                )
            ]
        )
        #expect(changes.changeToken.plain == "a1")
        #expect(changes.moreComing)
        let failed = await Result {
            try await database.recordZoneChanges(inZoneWith: Self.b, since: nil)
        }
        #expect(text(failed) == "zoneNotFound: because of ZONE_NOT_FOUND")
    }

    @Test("Zone configurations archive their token, limit and keys; damaged ones are refused")
    func configurationsArchive() throws {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: CKServerChangeToken(syncToken: "t"),
            resultsLimit: 9,
            desiredKeys: ["k"]
        )
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: configuration,
            requiringSecureCoding: true
        )
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self,
                from: data
            )
        )
        #expect(read.previousServerChangeToken == configuration.previousServerChangeToken)
        #expect(read.resultsLimit == 9)
        #expect(read.desiredKeys == ["k"])
    }
}
