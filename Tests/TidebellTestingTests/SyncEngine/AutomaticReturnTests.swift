// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

/// The server comes back from an older moment while engines that sync by themselves listen.
@Suite(
    "Engines that sync by themselves, and a server that came back from an older moment", .hangs,
    .onSQLite)
struct AutomaticReturnTests {
    /// An app that never calls for a sync.
    private struct App {
        let device: TestDevice
        let keeper = NoteKeeper()
        let engine: CKSyncEngine

        init(_ cloud: TestCloud) async throws {
            device = try await cloud.device(user: "anna")
            engine = keeper.engine(on: device.privateDatabase, automatically: true)
            await keeper.set(resendsNewer: true)
            await keeper.until {
                $0.events.contains("did fetch") && $0.events.contains("did send")
            }
        }

        func write(_ name: String, _ title: String, at time: Int) async {
            await keeper.write(name, title, at: time, in: engine)
        }

        /// Waits until the app has these notes, and has sent its own.
        func until(_ titles: [String: String]) async {
            let engine = engine
            await keeper.until { keeper in
                keeper.notes.mapValues(\.title) == titles
                    && engine.state.pendingRecordZoneChanges.isEmpty
            }
        }
    }

    /// The notes as the server has them.
    private func stored(in cloud: TestCloud) async throws -> [String: NoteKeeper.Note] {
        let database = try await cloud.device(user: "anna").privateDatabase
        let changes = try await database.recordZoneChanges(
            inZoneWith: NoteKeeper.zoneID, since: nil)
        var notes: [String: NoteKeeper.Note] = [:]
        for (recordID, result) in changes.modificationResultsByID {
            let record = try result.get().record
            notes[recordID.recordName] = NoteKeeper.Note(
                title: record.encryptedValues["title"] as? String ?? "",
                edited: record["edited"] as? Int ?? 0
            )
        }
        return notes
    }

    @Test(
        "H6, SYNC-7: they end equal to the server without a hand, though nobody changes anything",
        arguments: TestCloud.Return.allCases, [false, true])
    func endEqual(way: TestCloud.Return, padIsOffline: Bool) async throws {
        let cloud = try await TestCloud()
        let phone = try await App(cloud)
        let pad = try await App(cloud)
        for name in ["changed", "erased", "kept"] { await phone.write(name, "old", at: 1) }
        let old = ["changed": "old", "erased": "old", "kept": "old"]
        for app in [phone, pad] { await app.until(old) }
        let backup = try await cloud.backUp()
        // What is lost, though both devices have it.
        await phone.write("lost", "lost", at: 2)
        await phone.write("changed", "lost", at: 2)
        await phone.keeper.erase("erased", in: phone.engine)
        for app in [phone, pad] {
            await app.until(["changed": "lost", "kept": "old", "lost": "lost"])
        }
        if padIsOffline {
            pad.device.goOffline()
            await pad.write("unsent", "unsent", at: 3)
        }
        try await cloud.goBack(to: backup, way)
        if padIsOffline { try await pad.device.goOnline() }
        var truth: [String: NoteKeeper.Note] = [:]
        await eventually {
            truth = (try? await stored(in: cloud)) ?? [:]
            var isEqual = padIsOffline ? truth["unsent"] != nil : true
            for app in [phone, pad] {
                let notes = await app.keeper.notes
                isEqual =
                    isEqual && notes == truth
                    && app.engine.state.pendingRecordZoneChanges.isEmpty
            }
            if !isEqual { await cloud.clock.advance(by: .seconds(1)) }
            return isEqual
        }
        // What the phone had newer it sent again; what nobody has any more is gone.
        var expected: [String: NoteKeeper.Note] = [
            "changed": .init(title: "lost", edited: 2), "erased": .init(title: "old", edited: 1),
            "kept": .init(title: "old", edited: 1),
        ]
        if padIsOffline { expected["unsent"] = .init(title: "unsent", edited: 3) }
        #expect(truth == expected)
        for app in [phone, pad] { await app.engine.cancelOperations() }
    }
}
