// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

@Suite("Sync engine events", .hangs)
struct SyncEventTests {
    @Test("SYNC-11, SYNC-13, SYNC-26: the events of sending and fetching, in order")
    func order() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "a", in: pair.engineA)
        try await pair.engineA.sendChanges()
        #expect(
            await pair.keeperA.events == [
                "sign in", "will send (manual)", "sent zones +Notes", "sent +a", "did send",
            ]
        )
        try await pair.engineB.fetchChanges()
        #expect(
            await pair.keeperB.events == [
                "sign in", "will fetch (manual)", "zones +Notes", "will fetch Notes",
                "records +a", "did fetch Notes", "did fetch",
            ]
        )
        await pair.keeperB.forgetEvents()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.events == ["will fetch (manual)", "did fetch"])
    }

    @Test("SYNC-22: hundreds of changes are sent in batches until the delegate has no more")
    func batches() async throws {
        let pair = try await SyncedPair()
        for number in 0..<600 { await pair.keeperA.write("\(number)", "", in: pair.engineA) }
        try await pair.engineA.sendChanges()
        let sent = await pair.keeperA.events.filter { $0.hasPrefix("sent +") }
        #expect(sent.map { $0.split(separator: " ").count - 1 } == [250, 250, 100])
    }

    @Test("SYNC-22: a batch that is too large is limitExceeded, and nothing is lost")
    func tooLarge() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.set(ignoresLimits: true)
        for number in 0..<251 { await pair.keeperA.write("\(number)", "", in: pair.engineA) }
        #expect(await ckCode { try await pair.engineA.sendChanges() } == .limitExceeded)
        #expect(pair.engineA.state.pendingRecordZoneChanges.count == 251)
    }

    @Test("SYNC-22, SYNC-25: only changes in scope are sent; others in a batch are refused")
    func sendScope() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "a", in: pair.engineA)
        await pair.keeperA.write("b", "b", in: pair.engineA)
        let scope = CKSyncEngine.SendChangesOptions.Scope.recordIDs([
            itemID("a", zone: NoteKeeper.zoneID)
        ])
        try await pair.engineA.sendChanges(.init(scope: scope))
        #expect(await pair.keeperA.events.contains("sent +a"))
        #expect(pair.engineA.state.pendingRecordZoneChanges.count == 1)
        await pair.keeperA.set(ignoresLimits: true)
        #expect(
            await ckCode { try await pair.engineA.sendChanges(.init(scope: scope)) }
                == .invalidArguments
        )
    }

    @Test("SYNC-28: records of the default zone are not fetched, neither by a push nor by asking")
    func defaultZone() async throws {
        let pair = try await SyncedPair()
        try await pair.database.save(item("loose", zone: .default))
        await pair.keeperA.write("a", "a", in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.events.filter { $0.hasPrefix("zones") } == ["zones +Notes"])
        #expect(await pair.keeperB.events.filter { $0.hasPrefix("records") } == ["records +a"])
        let all = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([.default]))
        await pair.keeperB.forgetEvents()
        try await pair.engineB.fetchChanges(all)
        #expect(await pair.keeperB.events.filter { $0.hasPrefix("records") } == [])
    }

    @Test("SYNC-25: prioritized zones are fetched first, zones out of scope later")
    func fetchScope() async throws {
        let pair = try await SyncedPair()
        let zones = ["A", "B", "C"].map { CKRecordZone(zoneName: $0) }
        for zone in zones {
            try await pair.database.save(zone)
            try await pair.database.save(item("in\(zone.zoneID.zoneName)", zone: zone.zoneID))
        }
        await pair.keeperB.set(prioritized: [zones[2].zoneID])
        try await pair.engineB.fetchChanges(
            .init(scope: .allExcluding([zones[0].zoneID]))
        )
        let fetched = await pair.keeperB.events.filter { $0.hasPrefix("records") }
        #expect(fetched == ["records +inC", "records +inB"])
        #expect(pair.engineB.state.zoneIDsWithUnfetchedServerChanges == [zones[0].zoneID])
        await pair.keeperB.forgetEvents()
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.events.contains("records +inA"))
        #expect(pair.engineB.state.zoneIDsWithUnfetchedServerChanges == [])
    }

    @Test("SYNC-3, SYNC-4: with the kept state the next engine goes on where the last one was")
    func stateGoesOn() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "a", in: pair.engineA)
        try await pair.engineA.sendChanges()
        await pair.keeperA.write("b", "b", at: 2, in: pair.engineA)
        await pair.engineA.flushState()
        let keeper = pair.keeperA
        let next = keeper.engine(on: pair.database, state: await keeper.serialization)
        await keeper.forgetEvents()
        #expect(
            next.state.pendingRecordZoneChanges == [
                .saveRecord(itemID("b", zone: NoteKeeper.zoneID))
            ]
        )
        try await next.sendChanges()
        #expect(await keeper.events == ["will send (manual)", "sent +b", "did send"])
        // What the app itself sent comes back once; what it fetched does not.
        try await next.fetchChanges()
        try await next.fetchChanges()
        #expect(await keeper.events.suffix(2) == ["will fetch (manual)", "did fetch"])
    }

    @Test("SYNC-4: a change that was added is in a state update without any sync")
    func stateUpdateOfAnAddition() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "a", in: pair.engineA)
        await pair.keeperA.until { $0.serialization != nil }
        let next = pair.keeperA.engine(
            on: pair.database,
            state: await pair.keeperA.serialization
        )
        #expect(next.state.pendingRecordZoneChanges.count == 1)
        // Without news there is no update.
        let updates = await pair.keeperA.stateUpdates
        await pair.engineA.flushState()
        #expect(await pair.keeperA.stateUpdates == updates)
    }

    @Test("SYNC-21, C14: what was held up by another record of its zone stays pending")
    func batchRequestFailed() async throws {
        let pair = try await SyncedPair()
        await pair.keeperA.write("a", "A1", at: 1, in: pair.engineA)
        try await pair.engineA.sendChanges()
        try await pair.engineB.fetchChanges()
        try await pair.engineB.sendChanges()
        await pair.keeperA.write("a", "A2", at: 2, in: pair.engineA)
        try await pair.engineA.sendChanges()
        await pair.keeperB.set(isAtomic: true)
        await pair.keeperB.write("a", "B2", at: 3, in: pair.engineB)
        await pair.keeperB.write("b", "new", at: 3, in: pair.engineB)
        _ = await ckCode { try await pair.engineB.sendChanges() }
        #expect(
            await pair.keeperB.events.contains("sent !a serverRecordChanged !b batchRequestFailed")
        )
        #expect(pair.engineB.state.pendingRecordZoneChanges.count == 2)
        try await pair.engineB.sendChanges()
        try await pair.engineA.fetchChanges()
        #expect(await pair.keeperA.notes.mapValues(\.title) == ["a": "B2", "b": "new"])
    }

    @Test("SYNC-20: what failed for good is not pending any more, what the network kept is")
    func pendingAfterErrors() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: phone.privateDatabase)
        try await engine.sendChanges()
        await keeper.set(repairs: false)
        await keeper.write("a", "a", in: engine)
        phone.goOffline()
        #expect(await ckCode { try await engine.sendChanges() } == .networkUnavailable)
        #expect(await keeper.events.contains("sent !a networkUnavailable"))
        #expect(engine.state.pendingRecordZoneChanges.count == 1)
        try await phone.goOnline()
        try await phone.privateDatabase.deleteRecordZone(withID: NoteKeeper.zoneID)
        #expect(await ckCode { try await engine.sendChanges() } == .partialFailure)
        #expect(engine.state.pendingRecordZoneChanges == [])
    }

    @Test("What the app changes while it is being sent is sent again")
    func changedMeanwhile() async throws {
        let pair = try await SyncedPair()
        let keeper = pair.keeperA
        await keeper.write("a", "first", at: 1, in: pair.engineA)
        await keeper.set(onBatch: { keeper, engine in
            // The batch holds the first title already.
            guard keeper.notes["a"]?.title == "first" else { return }
            keeper.write("a", "second", at: 2, in: engine)
        })
        try await pair.engineA.sendChanges()
        #expect(await keeper.events.filter { $0 == "sent +a" }.count == 2)
        #expect(pair.engineA.state.pendingRecordZoneChanges == [])
        try await pair.engineB.fetchChanges()
        #expect(await pair.keeperB.notes["a"]?.title == "second")
    }

    @Test("SYNC-10: a task that the delegate starts may sync; its events come afterwards")
    func taskOfTheDelegate() async throws {
        let pair = try await SyncedPair()
        let keeper = pair.keeperA
        let tasks = Log<Task<Void, any Error>>()
        await keeper.set(onEvent: { event, engine in
            guard event == "will fetch (manual)", tasks.entries.isEmpty else { return }
            tasks.append(Task { try await engine.sendChanges() })
        })
        try await pair.engineA.fetchChanges()
        try await tasks.entries.first?.value
        #expect(
            await keeper.events == [
                "sign in", "will fetch (manual)", "did fetch", "will send (manual)",
                "sent zones +Notes", "did send",
            ]
        )
    }

    @Test("SYNC-8: a cancelled attempt reports its end, and keeps what is to be sent")
    func cancelling() async throws {
        let pair = try await SyncedPair()
        let keeper = pair.keeperA
        await keeper.write("a", "a", in: pair.engineA)
        await keeper.set(onEvent: { event, engine in
            if event.hasPrefix("will send") { await engine.cancelOperations() }
        })
        #expect(await ckCode { try await pair.engineA.sendChanges() } == .operationCancelled)
        #expect(await keeper.events == ["sign in", "will send (manual)", "did send"])
        #expect(pair.engineA.state.pendingRecordZoneChanges.count == 1)
        await keeper.set(onEvent: { _, _ in })
        try await pair.engineA.sendChanges()
        #expect(pair.engineA.state.pendingRecordZoneChanges == [])
    }
}
