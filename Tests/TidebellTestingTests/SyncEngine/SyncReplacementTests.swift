// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

/// An app that makes its engine again, as one that makes it lazily and soon after launch.
@Suite("Sync engines made again", .hangs)
struct SyncReplacementTests {
    @Test("SYNC-1: an engine made again with the state last given knows what was added since")
    func addedSinceTheLastState() async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = NoteKeeper()
        var first: CKSyncEngine? = keeper.engine(on: device.privateDatabase)
        await keeper.write("a", "a", in: try #require(first))
        let second = keeper.engine(on: device.privateDatabase, state: await keeper.serialization)
        first = nil
        #expect(second.state.pendingRecordZoneChanges.count == 1)
        try await second.sendChanges()
        #expect(
            await keeper.events == [
                "sign in", "will send (manual)", "sent zones +Notes", "sent +a", "did send",
            ]
        )
    }

    @Test("SYNC-1: an engine made in the middle of sending shares what is to be sent")
    func madeWhileSending() async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = NoteKeeper()
        let database = device.privateDatabase
        let made = Log<CKSyncEngine>()
        await keeper.set(onEvent: { event, _ in
            // As an app that sets up its zone through the engine it has now.
            guard event == "sign in" else { return }
            let second = keeper.engine(on: database, state: await keeper.serialization)
            second.state.add(
                pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Second"))]
            )
            made.append(second)
        })
        let first = keeper.engine(on: database)
        await keeper.write("a", "a", in: first)
        try await first.sendChanges()
        let second = try #require(made.entries.first)
        #expect(await keeper.events.contains("sent zones +Notes +Second"))
        #expect(second.state.pendingRecordZoneChanges == [])
        #expect(second.state.pendingDatabaseChanges == [])
    }

    @Test("SYNC-1: an engine made while a state update is handled may have the one before")
    func madeDuringAnUpdate() async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = EngineRemaker(device.privateDatabase)
        let first = keeper.engine(state: nil)
        first.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Z"))])
        await first.flushState()
        let second = try #require(keeper.made.entries.first)
        #expect(second.state.pendingDatabaseChanges.count == 1)
        second.state.remove(pendingDatabaseChanges: second.state.pendingDatabaseChanges)
        #expect(first.state.pendingDatabaseChanges == [])
    }

    @Test("SYNC-1: the older of two engines works on when the newer is let go")
    func newerLetGo() async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = NoteKeeper()
        let first = keeper.engine(on: device.privateDatabase)
        var second: CKSyncEngine? = keeper.engine(on: device.privateDatabase)
        #expect(second?.state === first.state)
        second = nil
        await keeper.write("a", "a", in: first)
        try await first.sendChanges()
        #expect(await keeper.events.contains("sent +a"))
    }

    @Test("SYNC-3: an engine made with any other state starts from that", arguments: [true, false])
    func otherStates(isNone: Bool) async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = NoteKeeper()
        let first = keeper.engine(on: device.privateDatabase)
        await keeper.write("a", "a", in: first)
        await first.flushState()
        let older = await keeper.serialization
        await keeper.write("b", "b", in: first)
        await first.flushState()
        let second = keeper.engine(on: device.privateDatabase, state: isNone ? nil : older)
        #expect(second.state.pendingRecordZoneChanges.count == (isNone ? 0 : 1))
        #expect(first.state.pendingRecordZoneChanges.count == 2)
    }

    @Test("SYNC-1: engines of other options, databases or delegates are others")
    func others() async throws {
        let device = try await TestCloud().device(user: "anna")
        let keeper = NoteKeeper()
        let other = NoteKeeper()
        let database = device.privateDatabase
        let first = keeper.engine(on: database)
        let engines = [
            keeper.engine(on: database, automatically: true),
            keeper.engine(on: database, subscriptionID: "mine"),
            keeper.engine(on: device.container().sharedCloudDatabase),
            other.engine(on: database),
        ]
        #expect(engines.filter { $0.state === first.state }.isEmpty)
    }
}

/// An app that makes its engine again as soon as it is given a state, before it kept that.
private final class EngineRemaker: CKSyncEngineDelegate {
    let made = Log<CKSyncEngine>()
    private let database: CKDatabase

    init(_ database: CKDatabase) {
        self.database = database
    }

    func engine(state: CKSyncEngine.State.Serialization?) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database,
            stateSerialization: state,
            delegate: self
        )
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .stateUpdate = event, made.entries.isEmpty else { return }
        made.append(engine(state: nil))
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        nil
    }
}
