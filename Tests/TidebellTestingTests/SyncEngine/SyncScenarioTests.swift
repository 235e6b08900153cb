// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

/// Two apps, each with a sync engine, that sync only when called.
struct SyncedPair {
    /// Where the engines are.
    enum Setup: CaseIterable {
        /// On two devices of one user.
        case twoDevices
        /// In one process, so that both are the same device.
        case oneDevice
    }

    let cloud: TestCloud
    let database: CKDatabase
    let keeperA = NoteKeeper()
    let keeperB = NoteKeeper()
    let engineA: CKSyncEngine
    let engineB: CKSyncEngine

    init(_ setup: Setup = .twoDevices) async throws {
        cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let laptop = setup == .oneDevice ? phone : try await cloud.device(user: "anna")
        database = phone.privateDatabase
        engineA = keeperA.engine(on: database)
        engineB = keeperB.engine(on: laptop.privateDatabase)
    }
}

@Suite("Sync engine scenarios", .hangs)
struct SyncScenarioTests {
    typealias Setup = SyncedPair.Setup

    @Test(
        "T-1: one, several and hundreds of records sent from A arrive on B",
        arguments: [1, 10, 444], Setup.allCases
    )
    func simpleSync(count: Int, setup: Setup) async throws {
        let pair = try await SyncedPair(setup)
        for number in 0..<count {
            await pair.keeperA.write("n\(number)", "note \(number)", in: pair.engineA)
        }
        try await pair.engineA.sendChanges()
        #expect(await pair.keeperB.notes.isEmpty)
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.notes.count == count)
        #expect(await pair.keeperB.notes == pair.keeperA.notes)
        #expect(pair.engineA.state.pendingRecordZoneChanges == [])
        #expect(pair.engineA.state.pendingDatabaseChanges == [])
        #expect(pair.engineB.state.zoneIDsWithUnfetchedServerChanges == [])
    }

    @Test("T-2: a rename on B arrives on A, and then one back", arguments: Setup.allCases)
    func rename(setup: Setup) async throws {
        let pair = try await SyncedPair(setup)
        await pair.keeperA.write("n", "first", at: 1, in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        await pair.keeperB.write("n", "second", at: 2, in: pair.engineB)
        try await pair.engineB.sendChanges()
        try await pair.engineA.fetchChanges()
        #expect(await pair.keeperA.notes == ["n": .init(title: "second", edited: 2)])
        await pair.keeperA.write("n", "third", at: 3, in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.notes == ["n": .init(title: "third", edited: 3)])
    }

    @Test(
        "T-3, T-4: a zone or record deleted behind the engine's back is made again",
        arguments: [true, false], Setup.allCases
    )
    func deletedBehindItsBack(zone: Bool, setup: Setup) async throws {
        let pair = try await SyncedPair(setup)
        await pair.keeperA.write("n", "old", at: 1, in: pair.engineA)
        try await pair.engineA.sendChanges()
        let firstDate = try #require(await pair.keeperA.creationDate(of: "n"))
        if zone {
            try await pair.database.deleteRecordZone(withID: NoteKeeper.zoneID)
        } else {
            try await pair.database.deleteRecord(
                withID: itemID("n", zone: NoteKeeper.zoneID)
            )
        }
        await pair.cloud.clock.advance(by: .seconds(1))
        await pair.keeperA.write("n", "new", at: 2, in: pair.engineA)
        await pair.keeperA.forgetEvents()
        let error = await ckError { try await pair.engineA.sendChanges() }
        #expect(error?.code == .partialFailure)
        #expect(
            await pair.keeperA.events.contains(
                zone ? "sent !n zoneNotFound" : "sent !n unknownItem"
            )
        )
        #expect(await pair.keeperA.creationDate(of: "n") == nil)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.notes == ["n": .init(title: "new", edited: 2)])
        #expect(try #require(await pair.keeperB.creationDate(of: "n")) != firstDate)
    }

    @Test(
        "T-5: a conflict is reported once, and both end with the later edit",
        arguments: [true, false], Setup.allCases
    )
    func conflict(winnerSavesFirst: Bool, setup: Setup) async throws {
        let pair = try await SyncedPair(setup)
        await pair.keeperA.write("n", "A1", at: 1, in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        try await pair.engineB.sendChanges()
        await pair.keeperA.write("n", "A2", at: 3, in: pair.engineA)
        await pair.keeperB.write("n", "B2", at: 2, in: pair.engineB)
        let (first, second) =
            winnerSavesFirst ? (pair.engineA, pair.engineB) : (pair.engineB, pair.engineA)
        try await first.sendChanges()
        let error = await ckError { try await second.sendChanges() }
        #expect(error?.code == .partialFailure)
        #expect(first.state.pendingRecordZoneChanges.count == 0)
        #expect(second.state.pendingRecordZoneChanges.count == 1)
        #expect(await pair.keeperA.notes["n"]?.title == "A2")
        #expect(await pair.keeperB.notes["n"]?.title == (winnerSavesFirst ? "A2" : "B2"))
        try await second.sendChanges()
        try await first.fetchChanges()
        let conflicts = await (pair.keeperA.events + pair.keeperB.events).filter {
            $0.contains("serverRecordChanged")
        }
        #expect(conflicts == ["sent !n serverRecordChanged"])
        #expect(await pair.keeperA.notes == ["n": .init(title: "A2", edited: 3)])
        #expect(await pair.keeperB.notes == ["n": .init(title: "A2", edited: 3)])
    }

    @Test("A deletion on A arrives on B with its type, and a deleted zone with its reason")
    func deletions() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "a", in: pair.engineA)
        await pair.keeperA.write("b", "b", in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        await pair.keeperA.erase("a", in: pair.engineA)
        try await pair.engineA.sendChanges()
        await pair.keeperB.forgetEvents()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.events.contains("records -a (Note)"))
        #expect(await pair.keeperB.notes.keys.sorted() == ["b"])
        pair.engineA.state.add(pendingDatabaseChanges: [.deleteZone(NoteKeeper.zoneID)])
        try await pair.engineA.sendChanges()
        await pair.keeperB.forgetEvents()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.events.contains("zones -Notes (deleted)"))
        #expect(await pair.keeperB.notes.isEmpty)
    }
}
