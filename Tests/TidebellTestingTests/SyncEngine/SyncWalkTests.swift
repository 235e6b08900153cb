// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

/// Random edits, syncs, losses of the network and restarts of apps on three devices: in
/// the end all have the same notes, and no edit is pending or lost without a trace.
@Suite("Sync engine walks", .hangs)
struct SyncWalkTests {
    /// One app on one device, whose engine can be replaced as by a new launch.
    private struct App {
        let device: TestDevice
        let keeper = NoteKeeper()
        var engine: CKSyncEngine

        init(_ device: TestDevice) {
            self.device = device
            engine = keeper.engine(on: device.privateDatabase)
        }

        mutating func relaunch() async {
            await engine.flushState()
            engine = keeper.engine(
                on: device.privateDatabase,
                state: await keeper.serialization
            )
        }
    }

    @Test(
        "T-1 to T-5, SYNC-27: whatever the order of edits and syncs, all devices end alike",
        arguments: 1...16 as ClosedRange<UInt64>
    )
    func convergence(seed: UInt64) async throws {
        try await walk(seed)
    }

    @Test(
        "H6: so they do when the server comes back from an older moment in between", .onSQLite,
        arguments: 101...112 as ClosedRange<UInt64>
    )
    func olderMoment(seed: UInt64) async throws {
        let ways = TestCloud.Return.allCases
        try await walk(seed, goingBack: ways[Int(seed) % ways.count])
    }

    private func walk(_ seed: UInt64, goingBack way: TestCloud.Return? = nil) async throws {
        var dice = SeededGenerator(seed: seed)
        let cloud = try await TestCloud()
        var apps: [App] = []
        for _ in 0..<3 {
            let app = App(try await cloud.device(user: "anna"))
            await app.keeper.set(resendsNewer: true)
            // A first fetch reports no deletions (TOK-6), so it comes before all edits.
            try await app.engine.sendChanges()
            try await app.engine.fetchChanges()
            apps.append(app)
        }
        var backup: TestCloud.Moment?
        for time in 1...60 {
            if way != nil, time == 20 { backup = try await cloud.backUp() }
            if let way, let backup, time == 40 { try await cloud.goBack(to: backup, way) }
            let index = dice.below(apps.count)
            let app = apps[index]
            switch dice.below(10) {
            case 0...3:
                let name = "n\(dice.below(6))"
                await app.keeper.write(name, "\(index)@\(time)", at: time, in: app.engine)
            case 4: await app.keeper.erase("n\(dice.below(6))", in: app.engine)
            case 5, 6: _ = await ckCode { try await app.engine.sendChanges() }
            case 7: _ = await ckCode { try await app.engine.fetchChanges() }
            case 8:
                if app.device.isOnline {
                    app.device.goOffline()
                } else {
                    try await app.device.goOnline()
                }
            default: await apps[index].relaunch()
            }
        }
        try await quiesce(apps)
        let notes = await apps[0].keeper.notes
        for app in apps {
            #expect(await app.keeper.notes == notes, "seed \(seed)")
            #expect(app.engine.state.pendingRecordZoneChanges == [], "seed \(seed)")
            #expect(app.engine.state.zoneIDsWithUnfetchedServerChanges == [], "seed \(seed)")
        }
        // A device that comes new sees the same.
        let fresh = App(try await cloud.device(user: "anna"))
        try await fresh.engine.fetchChanges()
        #expect(await fresh.keeper.notes == notes, "seed \(seed)")
    }

    /// Syncs all apps until nothing is left to send; conflicts need a second round each.
    private func quiesce(_ apps: [App]) async throws {
        for app in apps { try await app.device.goOnline() }
        for _ in 0..<4 {
            for app in apps {
                try await app.engine.fetchChanges()
                _ = await ckCode { try await app.engine.sendChanges() }
            }
        }
        for app in apps { try await app.engine.fetchChanges() }
    }
}
