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
        // What was accepted is there when the device is answered (SHARE-16).
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

/// Beside the others, because the streams of engines end only with them, after the test.
@Suite("Sync engines on the shared database that sync by themselves", .hangs)
struct AutomaticSharedSyncTests {
    @Test(
        "SHARE-26: engines that sync by themselves notice what others did to a share, on all devices"
    )
    func automatic() async throws {
        let people = try await Sharers()
        let places = [
            people.annasPhone.privateDatabase, people.annasLaptop.privateDatabase,
            people.bensPhone.sharedDatabase, people.bensLaptop.sharedDatabase,
        ]
        let apps = places.map { _ in SharedLists() }
        let engines = zip(apps, places).map { $0.engine(on: $1, automatically: true) }
        func all(_ apps: [SharedLists], reported events: String...) async {
            for app in apps { await eventually { events.allSatisfy(app.hasReported) } }
        }
        await all(apps, reported: "fetched")
        await all([apps[0], apps[1]], reported: "+list", "+milk")
        for app in apps { _ = app.takeEvents() }

        // Anna's apps share beside their engines, as Apple's sharing controller does.
        let share = try await people.share()
        let name = share.recordID.recordName
        await all([apps[0], apps[1]], reported: "+list", "+\(name)")
        #expect(apps[0].record(name)?.recordChangeTag == share.recordChangeTag)
        for app in apps { _ = app.takeEvents() }
        try await people.accept(share)
        await all([apps[2], apps[3]], reported: "+list", "+milk", "+\(name)")
        await all([apps[3]], reported: "zone")
        await all([apps[0], apps[1]], reported: "+\(name)")
        for app in apps[..<2] {
            let known = try #require(app.record(name) as? CKShare)
            #expect(known.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
        }
        for app in apps { _ = app.takeEvents() }

        // What an engine sends, the others fetch.
        let milk = try await people.bensID("milk")
        apps[2].change(milk, to: "2 litres")
        engines[2].state.add(pendingRecordZoneChanges: [.saveRecord(milk)])
        await all([apps[2]], reported: "sent milk")
        await all([apps[0], apps[1], apps[3]], reported: "+milk")
        #expect(apps[0].record("milk")?["title"] == "2 litres")
        for app in apps { _ = app.takeEvents() }

        let results = try await people.annasPhone.privateDatabase.modifyRecords(
            saving: [], deleting: [share.recordID])
        try results.deleteResults[share.recordID]?.get()
        await all([apps[0], apps[1]], reported: "-\(name)", "+list")
        await all([apps[2], apps[3]], reported: "zone ended")
        #expect(apps[0].record("list")?.share == nil)
        for engine in engines { await engine.cancelOperations() }
    }
}

/// By themselves for the same reason.
@Suite("Sync engines of who leaves a share", .hangs)
struct LeavingSyncTests {
    @Test(
        "SHARE-26, SHARE-14: engines that sync by themselves notice that their user left a share, on the device that left and on the other one"
    )
    func leaving() async throws {
        let people = try await Sharers()
        let places = [people.bensPhone, people.bensLaptop].map(\.sharedDatabase)
        let apps = places.map { _ in SharedLists() }
        let engines = zip(apps, places).map { $0.engine(on: $1, automatically: true) }
        for app in apps { await eventually { app.hasReported("fetched") } }
        let share = try await people.share()
        try await people.accept(share)
        for app in apps {
            await eventually { app.hasReported("+list") && app.hasReported("+milk") }
        }
        for app in apps { _ = app.takeEvents() }

        // As Apple's sharing controller does it: beside the engine.
        let shareID = try await people.bensID(share.recordID.recordName)
        let results = try await places[0].modifyRecords(saving: [], deleting: [shareID])
        try results.deleteResults[shareID]?.get()
        for app in apps { await eventually { app.hasReported("zone ended") } }

        // Whoever comes back is in again, and both engines find it.
        for app in apps { _ = app.takeEvents() }
        let annas = try await people.annasPhone.privateDatabase.record(for: share.recordID)
        let known = try #require(annas as? CKShare)
        #expect(known.participants.count == 1)
        known.addParticipant(try await people.ben())
        try await people.annasPhone.privateDatabase.save(known)
        try await people.accept(known)
        for app in apps {
            await eventually { app.hasReported("+list") && app.hasReported("+milk") }
        }
        for engine in engines { await engine.cancelOperations() }
    }
}

/// An app with one engine, which keeps what the engine reported, in short.
private final class SharedLists: CKSyncEngineDelegate {
    private let events = Mutex<[String]>([])
    private let isAutomatic = Mutex(false)
    private let records = Mutex<[CKRecord.ID: CKRecord]>([:])

    func engine(on database: CKDatabase, automatically: Bool = false) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: self)
        configuration.automaticallySync = automatically
        isAutomatic.withLock { $0 = automatically }
        return CKSyncEngine(configuration)
    }

    func takeEvents() -> [String] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Whether something was reported since the events were taken.
    func hasReported(_ event: String) -> Bool { events.withLock { $0.contains(event) } }

    /// What the engine last reported of a record.
    func record(_ name: String) -> CKRecord? {
        records.withLock { $0.first { $0.key.recordName == name }?.value }
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
        case .didFetchChanges where isAutomatic.withLock { $0 }: note(["fetched"])
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
