// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TestSupport
import Testing
import TidebellTesting

/// The server comes back from an older moment: every device ends equal to it, without a hand,
/// and what was not sent yet is not lost.
@Suite("Devices of a server that came back from an older moment", .hangs, .onSQLite)
struct LostLifeTests {
    /// One app on one device.
    private struct App {
        let keeper = NoteKeeper()
        let engine: CKSyncEngine

        init(_ cloud: TestCloud) async throws {
            let device = try await cloud.device(user: "anna")
            engine = keeper.engine(on: device.privateDatabase)
            await keeper.set(resendsNewer: true)
        }

        func sync() async throws {
            try await engine.fetchChanges()
            _ = await ckCode { try await engine.sendChanges() }
        }
    }

    @Test(
        "H6: engines end equal to the server and save what was not sent",
        arguments: TestCloud.Return.allCases)
    func engines(way: TestCloud.Return) async throws {
        let cloud = try await TestCloud()
        let phone = try await App(cloud)
        let pad = try await App(cloud)
        for name in ["changed", "erased", "kept"] {
            await phone.keeper.write(name, "old", in: phone.engine)
        }
        try await phone.engine.sendChanges()
        for app in [phone, pad] { try await app.sync() }
        let backup = try await cloud.backUp()
        // What is lost, though both devices have it.
        await phone.keeper.write("lost", "lost", at: 2, in: phone.engine)
        await phone.keeper.write("changed", "lost", at: 2, in: phone.engine)
        await phone.keeper.erase("erased", in: phone.engine)
        for app in [phone, pad] { try await app.sync() }
        // What was not sent yet.
        await pad.keeper.write("unsent", "unsent", at: 3, in: pad.engine)
        await pad.keeper.write("kept", "unsent", at: 3, in: pad.engine)
        try await cloud.goBack(to: backup, way)
        let other = try await App(cloud)
        try await other.sync()
        await other.keeper.write("changed", "new", at: 4, in: other.engine)
        for number in 0..<9 { await other.keeper.write("new\(number)", "", in: other.engine) }
        try await other.engine.sendChanges()
        await phone.keeper.forgetEvents()
        for _ in 0..<3 { for app in [phone, pad, other] { try await app.sync() } }
        let fresh = try await App(cloud)
        try await fresh.sync()
        let notes = await fresh.keeper.notes
        #expect(
            notes.filter { !$0.key.hasPrefix("new") } == [
                "changed": .init(title: "new", edited: 4), "erased": .init(title: "old", edited: 1),
                "kept": .init(title: "unsent", edited: 3),
                "unsent": .init(title: "unsent", edited: 3),
            ]
        )
        for app in [phone, pad, other] {
            #expect(await app.keeper.notes == notes)
            #expect(app.engine.state.pendingRecordZoneChanges == [])
        }
        #expect(await phone.keeper.events.contains { $0.contains(" -lost (Note)") })
    }

    @Test("H6: operations fail with changeTokenExpired, and without a token have what there is")
    func operations() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(user: "anna")
        let database = device.privateDatabase
        let zone = CKRecordZone(zoneName: "Notes")
        try await database.save(zone)
        func save(_ name: String) async throws {
            let recordID = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
            try await database.save(CKRecord(recordType: "Note", recordID: recordID))
        }
        try await save("a")
        let backup = try await cloud.backUp()
        try await save("lost")
        let zones = try await database.databaseChanges(since: nil).changeToken
        let records = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
            .changeToken
        try await cloud.goBack(to: backup, .restored)
        for name in ["b", "c", "d"] { try await save(name) }
        let codes = [
            await ckCode { _ = try await database.databaseChanges(since: zones) },
            await ckCode {
                _ = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: records)
            },
        ]
        #expect(codes == [.changeTokenExpired, .changeTokenExpired])
        let now = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        #expect(
            now.modificationResultsByID.keys.map(\.recordName).sorted() == ["a", "b", "c", "d"]
        )
        _ = try await database.databaseChanges(
            since: database.databaseChanges(since: nil).changeToken)
    }

    @Test("H6: an engine reports what went with a zone that was deleted and made again")
    func zoneMadeAgain() async throws {
        let cloud = try await TestCloud()
        let phone = try await App(cloud)
        let pad = try await App(cloud)
        for name in ["a", "b"] { await phone.keeper.write(name, "old", in: phone.engine) }
        try await phone.engine.sendChanges()
        try await pad.sync()
        let database = try await cloud.device(user: "anna").privateDatabase
        try await database.deleteRecordZone(withID: NoteKeeper.zoneID)
        try await database.save(CKRecordZone(zoneID: NoteKeeper.zoneID))
        let recordID = CKRecord.ID(recordName: "c", zoneID: NoteKeeper.zoneID)
        try await database.save(CKRecord(recordType: "Note", recordID: recordID))
        await pad.keeper.forgetEvents()
        try await pad.engine.fetchChanges()
        #expect(await pad.keeper.events.contains("records +c -a (Note) -b (Note)"))
        #expect(await pad.keeper.notes.keys.sorted() == ["c"])
    }
}
