// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// What must not keep a sync engine from getting on.
@Suite("Progress of a sync engine", .hangs)
struct SyncProgressTests {
    private static let modify = SyncErrorTests.modify

    /// Answers as a server that returns for each record of a request what became of it.
    private static func server(
        _ answer: @escaping @Sendable (_ name: String, _ body: String) -> String?
    ) -> ScriptedTransport {
        ScriptedTransport { sent, _ in
            if sent.endpoint == "public users/caller" { return .json(#"{"userRecordName":"_me"}"#) }
            let names = names(in: sent.body)
            let items = names.compactMap { answer($0, sent.body) }
            guard items.count == names.count else { return .json("too large", status: 413) }
            return .json(#"{"records":[\#(items.joined(separator: ","))]}"#)
        }
    }

    /// The names of the records of a request, in order.
    private static func names(in body: String) -> [String] {
        body.matches(of: /"recordName":"([^"]+)"/).map { String($0.output.1) }
    }

    private static func sent(_ transport: ScriptedTransport) -> [[String]] {
        transport.sent.filter { $0.endpoint == modify }.map { names(in: $0.body) }
    }

    private static func save(
        _ name: String, in zone: String
    ) -> CKSyncEngine.PendingRecordZoneChange {
        .saveRecord(CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone)))
    }

    @Test("SYNC-19: what cannot be sent now lets what was added after it go first")
    func nothingStarves() async {
        let transport = Self.server { name, _ in
            name.hasPrefix("busy")
                ? SyncErrorTests.fail(name, "TRY_AGAIN_LATER", ck: 23) : Answer.record(name)
        }
        var state = SyncErrorTests.state()
        let busy = (0..<300).map { Self.save("busy\($0)", in: "Busy") }
        for change in busy + [Self.save("free", in: "Free")] { state.pendingRecords.add(change) }
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: state)
        #expect(await SyncErrorTests.code { try await engine.sendChanges() } == .partialFailure)
        #expect(Self.sent(transport).joined().contains("free"))
        #expect(Set(engine.state.pendingRecordZoneChanges) == Set(busy))
    }

    @Test("SYNC-20: a record that is too large leaves the list, also out of an atomic batch")
    func tooLargeInAnAtomicBatch() async {
        let transport = Self.server { name, body in
            if name == "large" { return SyncErrorTests.fail(name, "BAD_REQUEST", ck: 27) }
            return Self.names(in: body).contains("large")
                ? SyncErrorTests.fail(name, "ATOMIC_ERROR") : Answer.record(name)
        }
        let app = ScriptedSync(isAtomic: true)
        let engine = app.engine(
            TestDevice(transport), state: SyncErrorTests.state(pending: "a", "large", "b")
        )
        _ = await SyncErrorTests.code { try await engine.sendChanges() }
        #expect(
            engine.state.pendingRecordZoneChanges
                == ["a", "b"].map { PendingChangeTests.save($0) }
        )
        #expect(await SyncErrorTests.code { try await engine.sendChanges() } == nil)
        #expect(engine.state.pendingRecordZoneChanges == [])
    }

    @Test("LIMIT-20: too much for one zone is halved; the other zone's records are sent once")
    func halvesOfOneZone() async throws {
        let transport = Self.server { name, body in
            Self.names(in: body).count > 2 ? nil : Answer.record(name)
        }
        var state = SyncErrorTests.state()
        for change in [
            Self.save("small", in: "A"), Self.save("b1", in: "B"), Self.save("b2", in: "B"),
            Self.save("b3", in: "B"),
        ] { state.pendingRecords.add(change) }
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: state)
        try await engine.sendChanges()
        #expect(engine.state.pendingRecordZoneChanges == [])
        #expect(Self.sent(transport) == [["small"], ["b1", "b2", "b3"], ["b1"], ["b2", "b3"]])
    }

    @Test("LIMIT-20: an atomic batch that is too much stays, behind what can be sent")
    func tooMuchTogether() async throws {
        let transport = Self.server { name, body in
            Self.names(in: body).count > 2 ? nil : Answer.record(name)
        }
        let crowded = (0..<3).map { Self.save("a\($0)", in: "A") }
        var state = SyncErrorTests.state()
        for change in crowded + [Self.save("b", in: "B")] { state.pendingRecords.add(change) }
        let app = ScriptedSync(isAtomic: true)
        let engine = app.engine(TestDevice(transport), state: state)
        #expect(await SyncErrorTests.code { try await engine.sendChanges() } == .partialFailure)
        #expect(Self.sent(transport) == [["a0", "a1", "a2"], ["a0", "a1", "a2"], ["b"]])
        #expect(engine.state.pendingRecordZoneChanges == crowded)
    }

    @Test("SYNC-22: a batch that brings nothing new ends the attempt and reports why")
    func sameBatchAgain() async throws {
        let transport = Self.server { name, _ in Answer.record(name) }
        let app = ScriptedSync { pending in
            CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: "another", zoneID: pending.zoneID)
            )
        }
        let engine = app.engine(TestDevice(transport), state: SyncErrorTests.state(pending: "a"))
        #expect(await SyncErrorTests.code { try await engine.sendChanges() } == .invalidArguments)
        #expect(Self.sent(transport) == [["another"]])
        #expect(engine.state.pendingRecordZoneChanges.count == 1)
    }

    private static let expired =
        #"{"serverErrorCode":"BAD_REQUEST","reason":"old","ext":{"ckCode":21}}"#

    @Test("TOK-21: a list of zones that broke off begins anew, so that what is gone is reported")
    func interruptedListing() async throws {
        let first = SyncScript.database("t8", DatabaseChangesTests.changed("Here"))
            .replacing(#""moreComing":false"#, with: #""moreComing":true"#)
        let last = SyncScript.database("t9", DatabaseChangesTests.changed("There"))
        let script = SyncScript([
            "private changes/database": [
                .json(Self.expired, status: 400), .json(first), .json("down", status: 500),
                .json(Self.expired, status: 400), .json(first), .json(last),
            ],
            "private changes/zone": [
                .json(Answer.zones(Answer.page("Here", token: "z"))),
                .json(Answer.zones(Answer.page("There", token: "z"))),
            ],
        ])
        var state = SyncErrorTests.state()
        state.databaseToken = CKServerChangeToken(syncToken: "t1")
        state.zoneTokens[CKRecordZone.ID(zoneName: "Gone")] = CKServerChangeToken(syncToken: "z")
        state.noteChanges(in: CKRecordZone.ID(zoneName: "Never fetched"))
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(script.transport), state: state)
        #expect(await SyncErrorTests.code { try await engine.fetchChanges() } != nil)
        #expect(engine.state.values.databaseToken == CKServerChangeToken(syncToken: "t1"))
        try await engine.fetchChanges()
        let zoneEvents = app.events.filter { $0.hasPrefix("zones") }
        #expect(zoneEvents.prefix(2) == ["zones +Here", "zones +Here"])
        let last3 = Set(try #require(zoneEvents.last).split(separator: " -").dropFirst())
        #expect(last3 == ["Gone deleted", "Never fetched deleted"])
    }

    @Test("TOK-21: a server whose tokens expire at once is not asked for ever")
    func expiresAgainAndAgain() async throws {
        let zone = #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me"}"#
        let expired = Answer.failure(zone, "BAD_REQUEST", ext: #","ext":{"ckCode":21}"#)
        let page = Answer.page("Notes", token: "p", Answer.record("r"))
            .replacing(#""moreComing":false"#, with: #""moreComing":true"#)
        let transport = SyncScript([
            "private changes/database": [
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Notes")))
            ],
            "private changes/zone": [
                .json(Answer.zones(expired)), .json(Answer.zones(page)),
                .json(Answer.zones(expired)), .json(Answer.zones(page)),
                .json(Answer.zones(expired)),
            ],
        ]).transport
        var state = SyncErrorTests.state()
        state.zoneTokens[CKRecordZone.ID(zoneName: "Notes")] = CKServerChangeToken(syncToken: "o")
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: state)
        #expect(await SyncErrorTests.code { try await engine.fetchChanges() } == .partialFailure)
        #expect(transport.sent.filter { $0.endpoint == "private changes/zone" }.count == 3)
    }

    @Test("SYNC-8: a page that was fetched ahead is not handed to a delegate that cancelled")
    func cancelledWhileAPageIsAhead() async throws {
        let first = Answer.page("Notes", token: "p0", more: true, Answer.record("r0"))
        let last = Answer.page("Notes", token: "p1", Answer.record("r1"))
        let transport = SyncScript([
            "private changes/database": [
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Notes"))),
                .json(SyncScript.database("t9")),
            ],
            "private changes/zone": [.json(Answer.zones(first)), .json(Answer.zones(last))],
        ]).transport
        let app = ScriptedSync(onEvent: { event, engine in
            guard event == "records +r0" else { return }
            await eventually {
                transport.sent.count { $0.endpoint == "private changes/zone" } == 2
            }
            await engine.cancelOperations()
        })
        let engine = app.engine(TestDevice(transport), state: SyncErrorTests.state())
        let code = await SyncErrorTests.code { try await engine.fetchChanges() }
        #expect(code == .operationCancelled)
        #expect(app.events.filter { $0.hasPrefix("records") } == ["records +r0"])
        try await engine.fetchChanges()
        #expect(app.events.filter { $0.hasPrefix("records") } == ["records +r0", "records +r1"])
        let tokens = transport.sent.filter { $0.endpoint == "private changes/zone" }
            .map { $0.body.contains(#""syncToken":"p0""#) }
        #expect(tokens == [false, true, true])
    }

    /// What the app has set around a fetch.
    @TaskLocal private static var mark = "none"

    @Test("Pages are handed over in the task of the app that fetches, with what it has set there")
    func taskOfTheApp() async throws {
        let transport = SyncScript([
            "private changes/database": [
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Notes")))
            ],
            "private changes/zone": [
                .json(
                    Answer.zones(
                        Answer.page("Notes", token: "p0", more: true, Answer.record("r0")))),
                .json(Answer.zones(Answer.page("Notes", token: "p1", Answer.record("r1")))),
            ],
        ]).transport
        let log = CallbackLog()
        let app = ScriptedSync(onEvent: { event, _ in log.add("\(event), \(Self.mark)") })
        let engine = app.engine(TestDevice(transport), state: SyncErrorTests.state())
        try await Self.$mark.withValue("set") { try await engine.fetchChanges() }
        #expect(
            log.lines.filter { $0.hasPrefix("records") } == [
                "records +r0, set", "records +r1, set",
            ]
        )
    }

    @Test("TOK-21: a fetch without a token that is answered with an expired one is not begun anew")
    func expiredWithoutAToken() async throws {
        let zone = #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me"}"#
        let expired = Answer.failure(zone, "BAD_REQUEST", ext: #","ext":{"ckCode":21}"#)
        let transport = SyncScript([
            "private changes/database": [
                .json(SyncScript.database("t9", DatabaseChangesTests.changed("Notes")))
            ],
            "private changes/zone": [.json(Answer.zones(expired))],
        ]).transport
        let app = ScriptedSync()
        let engine = app.engine(TestDevice(transport), state: SyncErrorTests.state())
        #expect(await SyncErrorTests.code { try await engine.fetchChanges() } == .partialFailure)
        #expect(transport.sent.count { $0.endpoint == "private changes/zone" } == 1)
    }
}
