// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("State of a sync engine")
struct SyncStateTests {
    /// A state in which everything is set.
    static var state: SyncState {
        var state = SyncState()
        state.userRecordName = "_me"
        state.subscriptionID = "s"
        state.databaseToken = CKServerChangeToken(data: Data([1]))
        state.zoneTokens = [ArchiveSamples.zoneID: CKServerChangeToken(data: Data([2]))]
        state.noteChanges(in: CKRecordZone.ID(zoneName: "Later"))
        state.pendingRecords = PendingChangeList([
            PendingChangeTests.save("a"), PendingChangeTests.delete("b"),
        ])
        state.pendingZones = PendingChangeList([
            .saveZone(ArchiveSamples.zone), .deleteZone(CKRecordZone.ID(zoneName: "Old")),
        ])
        state.hasPendingUntrackedChanges = true
        for name in ["a", "b"] {
            state.knownRecords.confirm(
                CKRecord.ID(recordName: name, zoneID: ArchiveSamples.zoneID), "Note"
            )
        }
        state.knownRecords.doubt(ArchiveSamples.zoneID)
        state.knownRecords.keep(CKRecord.ID(recordName: "b", zoneID: ArchiveSamples.zoneID))
        return state
    }

    /// The parts of a state that compare.
    static func parts(_ state: SyncState) -> [String] {
        [
            state.userRecordName ?? "nil", state.subscriptionID ?? "nil",
            "\(state.databaseToken?.description ?? "nil")", "\(state.zoneTokens)",
            "\(state.unfetchedZoneIDs)", "\(state.pendingRecords.changes)",
            "\(state.pendingZones.changes)", "\(state.hasPendingUntrackedChanges)",
            "\(state.knownRecords.doubtful(in: ArchiveSamples.zoneID))",
        ]
    }

    @Test("SYNC-3: a state comes back whole from JSON and from a property list")
    func coding() throws {
        let serialization = CKSyncEngine.State.Serialization(Self.state)
        let json = try JSONDecoder().decode(
            CKSyncEngine.State.Serialization.self,
            from: JSONEncoder().encode(serialization)
        )
        #expect(Self.parts(json.values) == Self.parts(Self.state))
        let list = try PropertyListDecoder().decode(
            CKSyncEngine.State.Serialization.self,
            from: PropertyListEncoder().encode(serialization)
        )
        #expect(Self.parts(list.values) == Self.parts(Self.state))
        let state = CKSyncEngine.State(json)
        #expect(state.pendingDatabaseChanges == Self.state.pendingZones.changes)
        #expect(state.zoneIDsWithUnfetchedServerChanges == Self.state.unfetchedZoneIDs)
        #expect(state.hasPendingUntrackedChanges)
        guard case .saveZone(let zone) = state.pendingDatabaseChanges.first else {
            Issue.record("no zone is to be saved")
            return
        }
        #expect(zone.capabilities == ArchiveSamples.zone.capabilities)
    }

    @Test("H6: a state of an earlier version, which knows no records, is read")
    func earlierVersion() throws {
        var state = Self.state
        state.knownRecords = KnownRecords()
        var payload = BlobWriter()
        state.write(to: &payload)
        // What was added is the number of zones, none.
        var reader = BlobReader(Array(payload.bytes.dropLast(4)))
        let read = try SyncState(from: &reader)
        #expect(Self.parts(read) == Self.parts(state))
        #expect(reader.remaining == 0)
    }

    @Test("H6: known records are bounded, and those that go make room")
    func knownRecordsAreBounded() {
        var known = KnownRecords()
        func recordID(_ number: Int) -> CKRecord.ID {
            CKRecord.ID(recordName: "\(number)", zoneID: ArchiveSamples.zoneID)
        }
        for number in 0...KnownRecords.limit { known.confirm(recordID(number), "Note") }
        known.doubt(ArchiveSamples.zoneID)
        #expect(known.doubtful(in: ArchiveSamples.zoneID).count == KnownRecords.limit)
        known.forget(recordID(0))
        known.confirm(recordID(KnownRecords.limit + 1), "Note")
        known.doubt(ArchiveSamples.zoneID)
        let names = Set(known.doubtful(in: ArchiveSamples.zoneID).map(\.recordID.recordName))
        #expect(names.count == KnownRecords.limit)
        #expect(!names.contains("0") && names.contains("\(KnownRecords.limit + 1)"))
        known.forgetZone(ArchiveSamples.zoneID)
        #expect(known == KnownRecords())
    }

    @Test("A damaged state is refused, never believed")
    func damage() throws {
        let bytes = ArchiveBlob.bytes(of: Self.state)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x10
            let json = Data(#"{"data":"\#(Data(damaged).base64EncodedString())"}"#.utf8)
            #expect(throws: DecodingError.self, "byte \(index)") {
                try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json)
            }
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data("{}".utf8))
        }
    }
}

@Suite("Batches of a sync engine")
struct RecordZoneChangeBatchTests {
    typealias Batch = CKSyncEngine.RecordZoneChangeBatch

    static func record(_ recordID: CKRecord.ID, bytes: Int = 0) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: recordID)
        record["body"] = String(repeating: "x", count: bytes)
        return record
    }

    @Test("SYNC-22: a batch takes pending changes in order, passes over those without record")
    func filling() async {
        let changes = [
            PendingChangeTests.save("a"), PendingChangeTests.save("gone"),
            PendingChangeTests.delete("b"), PendingChangeTests.save("c"),
        ]
        let batch = await Batch(pendingChanges: changes) { recordID in
            recordID.recordName == "gone" ? nil : Self.record(recordID)
        }
        #expect(batch?.recordsToSave.map(\.recordID.recordName) == ["a", "c"])
        #expect(batch?.recordIDsToDelete.map(\.recordName) == ["b"])
        #expect(batch?.atomicByZone == false)
    }

    @Test("SYNC-22: there is no batch without changes or records")
    func empty() async {
        let ofNothing = await Batch(pendingChanges: []) { Self.record($0) }
        #expect(ofNothing?.count == nil)
        let withoutRecord = await Batch(pendingChanges: [PendingChangeTests.save("a")]) { _ in nil }
        #expect(withoutRecord?.count == nil)
    }

    @Test("SYNC-22, LIMIT-3: a batch has at most 250 changes")
    func counting() async {
        let changes = (0..<300).map { PendingChangeTests.save("\($0)") }
        let batch = await Batch(pendingChanges: changes) { Self.record($0) }
        #expect(batch?.recordsToSave.count == 250)
        #expect(batch?.problem(in: .all) == nil)
    }

    @Test("SYNC-22, LIMIT-2: a batch stays below the size of a request; one record always fits")
    func size() async {
        let changes = (0..<10).map { PendingChangeTests.save("\($0)") }
        let batch = await Batch(pendingChanges: changes) { Self.record($0, bytes: 400_000) }
        #expect(batch?.recordsToSave.count == 2)
        let large = await Batch(pendingChanges: changes) { Self.record($0, bytes: 3_000_000) }
        #expect(large?.recordsToSave.count == 1)
    }

    @Test("SYNC-22: too many changes are limitExceeded, those out of scope invalidArguments")
    func problems() {
        let many = Batch(recordIDsToDelete: (0...250).map { PendingChangeTests.id("\($0)") })
        #expect(many.problem(in: .all)?.code == .limitExceeded)
        let one = Batch(recordIDsToDelete: [PendingChangeTests.id("a")])
        let error = one.problem(in: .recordIDs([PendingChangeTests.id("b")]))
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("'a'") == true)
        #expect(one.problem(in: .zoneIDs([PendingChangeTests.zoneID])) == nil)
    }
}
