// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellTesting

@Suite("Automatic sync", .hangs)
struct AutomaticSyncTests {
    /// An app with an engine that syncs by itself.
    private struct App {
        let device: TestDevice
        let keeper = NoteKeeper()
        let engine: CKSyncEngine

        init(_ device: TestDevice, state: CKSyncEngine.State.Serialization? = nil) {
            self.device = device
            engine = keeper.engine(
                on: device.privateDatabase,
                automatically: true,
                state: state
            )
        }

        func write(_ name: String, _ title: String, at time: Int = 1) async {
            await keeper.write(name, title, at: time, in: engine)
        }

        /// Waits until the engine has done all it does at first: signed in, listened,
        /// fetched, and sent the zone.
        func untilReady() async {
            await keeper.until {
                $0.events.contains("did fetch") && $0.events.contains("did send")
            }
        }

        /// Waits until a note has a title.
        func until(_ name: String, is title: String) async {
            await keeper.until { $0.notes[name]?.title == title }
        }
    }

    /// Moves the clock second by second until `condition` holds.
    private func moving(
        _ clock: ManualClock, until condition: () async -> Bool
    ) async {
        await eventually {
            if await condition() { return true }
            await clock.advance(by: .seconds(1))
            return false
        }
    }

    @Test("SYNC-5, SYNC-7, SYNC-19: what A adds is sent, pushed, and fetched by B, and back")
    func backAndForth() async throws {
        let cloud = try await TestCloud()
        let a = App(try await cloud.device(user: "anna"))
        let b = App(try await cloud.device(user: "anna"))
        // Both receive pushes from here on.
        for app in [a, b] { await app.untilReady() }
        await a.write("n", "hello")
        await b.until("n", is: "hello")
        await b.write("n", "hello back", at: 2)
        await a.until("n", is: "hello back")
        for app in [a, b] {
            await app.keeper.until { _ in app.engine.state.pendingRecordZoneChanges.isEmpty }
        }
        let events = await b.keeper.events
        #expect(events.contains("will fetch (scheduled)"))
        #expect(events.contains("will send (scheduled)"))
    }

    @Test("SYNC-6, SUB-67: both devices share one subscription of the engine's own")
    func ownSubscription() async throws {
        let cloud = try await TestCloud()
        let apps = [
            App(try await cloud.device(user: "anna")), App(try await cloud.device(user: "anna")),
        ]
        for app in apps { await app.untilReady() }
        let subscriptions = try await apps[0].device.privateDatabase.allSubscriptions()
        #expect(subscriptions.map(\.subscriptionType) == [.database])
        #expect(subscriptions.first?.notificationInfo?.shouldSendContentAvailable == true)
    }

    @Test("SUB-67: a database subscription that exists is used, and none is made")
    func existingSubscription() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        let old = CKDatabaseSubscription(subscriptionID: "of-the-old-version")
        old.notificationInfo = .silent
        try await device.privateDatabase.save(old)
        let app = App(device)
        await app.untilReady()
        let subscriptions = try await device.privateDatabase.allSubscriptions()
        #expect(subscriptions.map(\.subscriptionID) == ["of-the-old-version"])
    }

    @Test("SUB-67: a subscription ID that is configured is used, and created")
    func configuredSubscription() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        let keeper = NoteKeeper()
        let engine = keeper.engine(
            on: device.privateDatabase,
            automatically: true,
            subscriptionID: "mine"
        )
        await keeper.until { $0.events.contains("did fetch") }
        let subscriptions = try await device.privateDatabase.allSubscriptions()
        #expect(subscriptions.map(\.subscriptionID) == ["mine"])
        await engine.cancelOperations()
    }

    @Test("SYNC-7: a push names the zone with unfetched changes, which are then fetched")
    func pushedZone() async throws {
        let cloud = try await TestCloud()
        let app = App(try await cloud.device(user: "anna"))
        await app.untilReady()
        let other = try await cloud.device(user: "anna")
        let zone = try await other.privateDatabase.save(CKRecordZone(zoneName: "Other"))
        try await other.privateDatabase.save(item("x", zone: zone.zoneID))
        await app.keeper.until { $0.events.contains("records +x") }
        await app.keeper.until { _ in
            app.engine.state.zoneIDsWithUnfetchedServerChanges.isEmpty
        }
    }

    @Test("SYNC-20: without a network changes wait, and are sent when it is back")
    func networkLoss() async throws {
        let cloud = try await TestCloud()
        let app = App(try await cloud.device(user: "anna"))
        await app.untilReady()
        app.device.goOffline()
        await app.write("n", "offline")
        await app.keeper.until { $0.events.contains("sent !n networkUnavailable") }
        #expect(app.engine.state.pendingRecordZoneChanges.count == 1)
        try await app.device.goOnline()
        await moving(cloud.clock) { await app.keeper.events.contains("sent +n") }
        #expect(app.engine.state.pendingRecordZoneChanges == [])
    }

    @Test("A server that is restarted is found again, and pushes flow")
    func serverRestart() async throws {
        let cloud = try await TestCloud()
        let a = App(try await cloud.device(user: "anna"))
        let b = App(try await cloud.device(user: "anna"))
        for app in [a, b] { await app.untilReady() }
        try await cloud.restart()
        await a.write("n", "after")
        await moving(cloud.clock) { await b.keeper.notes["n"]?.title == "after" }
    }

    @Test("SYNC-27: a conflict is merged and sent again by itself")
    func conflict() async throws {
        let cloud = try await TestCloud()
        let a = App(try await cloud.device(user: "anna"))
        await a.untilReady()
        await a.write("n", "A1")
        let b = App(try await cloud.device(user: "anna"))
        await b.until("n", is: "A1")
        await b.untilReady()
        b.device.goOffline()
        await b.write("n", "B", at: 2)
        await b.keeper.until { $0.events.contains("sent !n networkUnavailable") }
        await a.write("n", "A3", at: 3)
        await a.keeper.until { $0.events.filter { $0 == "sent +n" }.count == 2 }
        try await b.device.goOnline()
        await moving(cloud.clock) {
            await b.keeper.notes["n"]?.title == "A3"
                && b.engine.state.pendingRecordZoneChanges.isEmpty
        }
        #expect(await a.keeper.notes["n"]?.title == "A3")
    }

    @Test("SYNC-24: changes only the app knows of are asked for once it reports them")
    func untracked() async throws {
        let cloud = try await TestCloud()
        let app = App(try await cloud.device(user: "anna"))
        await app.untilReady()
        await app.keeper.forgetEvents()
        app.engine.state.hasPendingUntrackedChanges = true
        await app.keeper.until { $0.events.contains("did send") }
        #expect(await app.keeper.events == ["will send (scheduled)", "did send"])
    }

    @Test("SYNC-2: without a user the engine rests, and keeps what is added")
    func nobodySignedIn() async throws {
        let cloud = try await TestCloud()
        let app = App(try await cloud.device(user: nil))
        await app.write("n", "kept")
        await app.keeper.until { $0.serialization != nil }
        #expect(await ckCode { try await app.engine.fetchChanges() } == .notAuthenticated)
        #expect(await app.keeper.events == [])
        // The next launch finds a user.
        let signedIn = try await app.device.signIn("anna")
        let next = App(signedIn, state: await app.keeper.serialization)
        await next.keeper.until { $0.events.contains("did send") }
        #expect(await next.keeper.events.first == "sign in")
    }

    @Test("An engine that is let go stops, and its delegate is not kept")
    func lettingGo() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        weak var keeper: NoteKeeper?
        weak var engine: CKSyncEngine?
        do {
            let app = App(device)
            keeper = app.keeper
            engine = app.engine
            await app.untilReady()
        }
        await eventually { keeper == nil && engine == nil }
        #expect(keeper == nil)
        #expect(engine == nil)
    }
}
