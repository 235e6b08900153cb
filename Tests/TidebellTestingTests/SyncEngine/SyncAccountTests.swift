// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

@Suite("Sync engine accounts", .hangs)
struct SyncAccountTests {
    /// Lets an app of anna sync a note, and leaves another one to be sent.
    private func annasDevice(
        _ cloud: TestCloud
    ) async throws -> (TestDevice, CKSyncEngine.State.Serialization) {
        let device = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: device.privateDatabase)
        await keeper.write("a", "sent", in: engine)
        try await engine.sendChanges()
        await keeper.write("b", "not sent", in: engine)
        await engine.flushState()
        return (device, try #require(await keeper.serialization))
    }

    @Test("SYNC-17: another user at the next launch is one event; nothing of the first is sent")
    func switchingAccounts() async throws {
        let cloud = try await TestCloud()
        let (annas, state) = try await annasDevice(cloud)
        let bens = try await annas.signIn("ben")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: bens.privateDatabase, state: state)
        #expect(engine.state.pendingRecordZoneChanges.count == 1)
        try await engine.sendChanges()
        #expect(
            await keeper.events == ["switch accounts", "will send (manual)", "did send"]
        )
        #expect(engine.state.pendingRecordZoneChanges == [])
        try await engine.fetchChanges()
        #expect(await keeper.notes.isEmpty)
        #expect(try await cloud.dump().contains("ben private") == false)
    }

    @Test("SYNC-17: after a sign-out the state is empty; signing in again fetches everything")
    func signingOutAndIn() async throws {
        let cloud = try await TestCloud()
        let (annas, state) = try await annasDevice(cloud)
        let nobodys = try await annas.signIn(nil)
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: nobodys.privateDatabase, state: state)
        #expect(await ckCode { try await engine.sendChanges() } == .notAuthenticated)
        #expect(await keeper.events == ["sign out"])
        #expect(engine.state.pendingRecordZoneChanges == [])
        let again = try await nobodys.signIn("anna")
        let next = keeper.engine(on: again.privateDatabase, state: await keeper.serialization)
        try await next.fetchChanges()
        #expect(await keeper.events.dropFirst().first == "sign in")
        #expect(await keeper.notes.mapValues(\.title) == ["a": "sent"])
    }

    @Test("SYNC-6, SYNC-17: an engine that runs while the user changes receives the new one's")
    func switchingWhileListening() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: device.privateDatabase, automatically: true)
        await keeper.until { $0.events.contains("did fetch") && $0.events.contains("did send") }
        try await device.signIn("ben")
        await keeper.until { $0.events.contains("switch accounts") }
        let other = try await cloud.device(user: "ben").privateDatabase
        try await eventually { try await !other.allSubscriptions().isEmpty }
        let zone = try await other.save(CKRecordZone(zoneID: NoteKeeper.zoneID))
        // The second can only come by a push: the first one ended all that was going on.
        for name in ["first", "second"] {
            try await other.save(item(name, zone: zone.zoneID))
            await keeper.until { $0.events.contains { $0.hasSuffix("+\(name)") } }
        }
        await engine.cancelOperations()
    }

    @Test("SYNC-4, SYNC-17: the state of the new user comes after the event, with what it added")
    func stateAfterTheEvent() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(on: device.privateDatabase)
        let updatesBefore = Log<Int>()
        await keeper.set(onEvent: { event, _ in
            if event == "sign in" { updatesBefore.append(await keeper.stateUpdates) }
        })
        try await engine.fetchChanges()
        #expect(updatesBefore.entries == [0])
        let state = await keeper.serialization
        await keeper.forgetEvents()
        let next = keeper.engine(on: device.privateDatabase, state: state)
        #expect(next.state.pendingDatabaseChanges.count == 1)
        try await next.sendChanges()
        #expect(
            await keeper.events == ["will send (manual)", "sent zones +Notes", "did send"]
        )
    }
}
