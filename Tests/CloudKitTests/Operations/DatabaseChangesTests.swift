// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct DatabaseChangesTests {
    static func changes(_ token: String, more: Bool, _ zones: String...) -> String {
        """
        {"zones":[\(zones.joined(separator: ","))],"syncToken":"\(token)","moreComing":\(more)}
        """
    }

    static func changed(_ name: String) -> String {
        #"{"zoneID":{"zoneName":"\#(name)","ownerRecordName":"_me"}}"#
    }

    static func gone(_ name: String, _ reason: String? = nil) -> String {
        let ext = reason.map { #","ext":{"reason":"\#($0)"}"# } ?? ""
        return #"{"zoneID":{"zoneName":"\#(name)","ownerRecordName":"_me"},"deleted":true\#(ext)}"#
    }

    static func token(_ text: String) -> CKServerChangeToken {
        CKServerChangeToken(syncToken: text)
    }

    static func log(
        _ operation: CKFetchDatabaseChangesOperation,
        _ log: CallbackLog,
        allBlocks: Bool = true
    ) {
        operation.recordZoneWithIDChangedBlock = { log.add("changed \($0.zoneName)") }
        operation.recordZoneWithIDWasDeletedBlock = { log.add("deleted \($0.zoneName)") }
        if allBlocks {
            operation.recordZoneWithIDWasPurgedBlock = { log.add("purged \($0.zoneName)") }
            operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
                log.add("reset \($0.zoneName)")
            }
        }
        operation.changeTokenUpdatedBlock = { log.add("token \($0.plain)") }
        operation.fetchDatabaseChangesResultBlock = { result in
            switch result {
            case .success(let end): log.add("end \(end.serverChangeToken.plain) \(end.moreComing)")
            case .failure(let error): log.add("end \(text(error))")
            }
        }
    }

    @Test("TOK-7, TOK-11: all pages are fetched; tokens are reported between them, not at the end")
    func allPages() async {
        let transport = ScriptedTransport(
            answering: Self.changes("t1", more: true, Self.changed("a"), Self.gone("b")),
            Self.changes(
                "t2",
                more: true,
                Self.changed("a"),
                Self.gone("p", "purged"),
                Self.gone("r", "encryptedDataReset")
            ),
            Self.changes("t3", more: false, Self.gone("a", "deleted"), Self.changed("b"))
        )
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: Self.token("t0"))
        operation.resultsLimit = 3
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "changed a", "deleted b", "token t1", "purged p", "reset r", "token t2",
                "deleted a", "changed b", "end t3 false",
            ]
        )
        #expect(
            transport.sent.map(\.body)
                == (0...2).map { #"{"syncToken":"t\#($0)","resultsLimit":3}"# }
        )
    }

    @Test("TOK-8: without blocks of their own, purged and reset zones are reported as deleted")
    func purgedZonesAreReportedAsDeleted() async {
        let transport = ScriptedTransport(
            answering: Self.changes(
                "t1",
                more: false,
                Self.gone("p", "purged"),
                Self.gone("r", "encryptedDataReset")
            )
        )
        let operation = CKFetchDatabaseChangesOperation()
        let log = CallbackLog()
        Self.log(operation, log, allBlocks: false)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["deleted p", "deleted r", "end t1 false"])
        #expect(transport.sent.map(\.body) == ["{}"])
    }

    @Test("TOK-11, TOK-12: without fetchAllChanges there is one request")
    func onePage() async {
        let transport = ScriptedTransport(
            answering: Self.changes("t1", more: true, Self.changed("a"))
        )
        let operation = CKFetchDatabaseChangesOperation()
        operation.fetchAllChanges = false
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["changed a", "end t1 true"])
    }

    @Test("TOK-18, TOK-20: a failure on the way gives the error and no token")
    func aFailureOnTheWay() async {
        let transport = ScriptedTransport { _, number in
            if number == 0 { return .json(Self.changes("t1", more: true, Self.changed("a"))) }
            return .json(#"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#, status: 403)
        }
        let database = TestDevice(transport).database
        let new = CKFetchDatabaseChangesOperation()
        let log = CallbackLog()
        Self.log(new, log)
        await database.runToEnd(new)
        let old = CKFetchDatabaseChangesOperation()
        OldFetchDatabaseChanges().on(old, log)
        await database.runToEnd(old)
        #expect(
            log.lines == [
                "changed a", "token t1", "end permissionFailure: no",
                "completion nil false permissionFailure: no",
            ]
        )
    }

    @Test("The old completion gets token and moreComing")
    func theOldCompletion() async {
        let transport = ScriptedTransport(answering: Self.changes("t1", more: true))
        let operation = CKFetchDatabaseChangesOperation()
        operation.fetchAllChanges = false
        let log = CallbackLog()
        OldFetchDatabaseChanges().on(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(log.lines == ["completion t1 true nil"])
    }

    @Test("A server that promises more for ever is left after the first repetition")
    func aServerThatStandsStill() async {
        let transport = ScriptedTransport(answering: Self.changes("t1", more: true))
        let operation = CKFetchDatabaseChangesOperation()
        let log = CallbackLog()
        Self.log(operation, log)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "token t1",
                "end internalError: The server reports that more changes are coming, but does not "
                    + "move on.",
            ]
        )
        #expect(transport.sent.count == 2)
    }

    @Test("TOK-3: a token of another service counts as expired, without a request")
    func aForeignToken() async {
        let transport = ScriptedTransport(answering: "{}")
        let database = TestDevice(transport).database
        for data in [Data(), Data([0xFF, 0xFE])] {
            let token = CKServerChangeToken(data: data)
            let result = await Result { try await database.databaseChanges(since: token) }
            #expect(
                text(result) == "changeTokenExpired: The change token was made by another "
                    + "service; fetch without a token."
            )
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("TOK-27: the convenience form makes one request and returns everything")
    func theConvenienceForm() async throws {
        let transport = ScriptedTransport(
            answering: Self.changes(
                "t1",
                more: true,
                Self.changed("a"),
                Self.gone("b"),
                Self.gone("p", "purged"),
                Self.gone("r", "encryptedDataReset")
            )
        )
        let database = TestDevice(transport).database
        let changes = try await database.databaseChanges(since: nil, resultsLimit: 7)
        #expect(changes.modifications.map(\.zoneID.zoneName) == ["a"])
        #expect(changes.deletions.map(\.zoneID.zoneName) == ["b", "p", "r"])
        #expect(changes.deletions.map(\.reason) == [.deleted, .purged, .encryptedDataReset])
        #expect(changes.changeToken == Self.token("t1"))
        #expect(changes.moreComing)
        #expect(transport.sent.map(\.body) == [#"{"resultsLimit":7}"#])
        let handled = await withCheckedContinuation { continuation in
            database.fetchDatabaseChanges(since: Self.token("t1")) { result in
                continuation.resume(returning: (try? result.get())?.deletions.count)
            }
        }
        #expect(handled == 3)
    }
}
