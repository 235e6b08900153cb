// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Synchronization
import TestSupport
import Testing
import TidebellTesting

@Suite("Sync engines on the shared database", .hangs, .finishesClouds) struct SharedSyncTests {
    @Test("SHARE-26: an engine finds what was accepted elsewhere, sends to it, and sees it end")
    func life() async throws {
        let people = try await Sharers()
        let app = SharedLists()
        let engine = app.engine(on: people.bensLaptop.sharedDatabase)
        try await engine.fetchChanges()
        #expect(app.takeEvents() == [])

        let share = try await people.share()
        try await people.accept(share)
        // What a participant may see now is worked out behind the answer (SHARE-16).
        try await people.cloud.settle()
        try await engine.fetchChanges()
        let name = share.recordID.recordName
        #expect(
            app.takeEvents().sorted() == ["+bread", "+\(name)", "+list", "+milk", "zone"].sorted())

        let milk = try await people.bensID("milk")
        app.change(milk, to: "2 litres")
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(milk)])
        try await engine.sendChanges()
        #expect(app.takeEvents() == ["sent milk"])
        let annas = try await people.annasPhone.privateDatabase.record(for: people.id("milk"))
        #expect(annas["title"] == "2 litres")

        // A record that leaves the list leaves Ben's devices.
        annas.parent = nil
        try await people.annasPhone.privateDatabase.save(annas)
        try await people.cloud.settle()
        try await engine.fetchChanges()
        #expect(app.takeEvents() == ["zone", "-milk"])

        let current = try await people.annasPhone.privateDatabase.record(for: share.recordID)
        let known = try #require(current as? CKShare)
        known.removeParticipant(try await people.ben())
        try await people.annasPhone.privateDatabase.save(known)
        try await people.cloud.settle()
        try await engine.fetchChanges()
        #expect(app.takeEvents() == ["zone ended"])
    }
}

/// An app with one engine, which keeps what the engine reported, in short.
private final class SharedLists: CKSyncEngineDelegate {
    private let events = Mutex<[String]>([])
    private let records = Mutex<[CKRecord.ID: CKRecord]>([:])

    func engine(on database: CKDatabase) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    func takeEvents() -> [String] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    func change(_ recordID: CKRecord.ID, to title: String) {
        records.withLock { $0[recordID]?["title"] = title }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .fetchedDatabaseChanges(let changes):
            note(changes.modifications.map { _ in "zone" })
            note(changes.deletions.map { _ in "zone ended" })
        case .fetchedRecordZoneChanges(let changes):
            for modification in changes.modifications {
                records.withLock { $0[modification.record.recordID] = modification.record }
            }
            note(changes.modifications.map { "+\($0.record.recordID.recordName)" })
            note(changes.deletions.map { "-\($0.recordID.recordName)" })
        case .sentRecordZoneChanges(let changes):
            note(changes.savedRecords.map { "sent \($0.recordID.recordName)" })
            note(changes.failedRecordSaves.map { "failed \($0.error)" })
        default: break
        }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: syncEngine.state.pendingRecordZoneChanges
        ) { recordID in
            self.records.withLock { $0[recordID] }
        }
    }

    private func note(_ new: [String]) { events.withLock { $0 += new } }
}
