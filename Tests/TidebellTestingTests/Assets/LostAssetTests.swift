// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

/// What a device believes the server to have, and the server has no more.
@Suite("Files that the server has lost", .finishesClouds)
struct LostAssetTests {
    /// A record whose file was uploaded, but which was not saved.
    private func refusedSave(
        _ home: AssetHome, zone: CKRecordZone.ID = .default
    ) async throws -> CKRecord {
        let other = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone)
        )
        try await home.database.save(other)
        let record = home.note(try home.files.write("f", "one"), zone: zone)
        #expect(await ckCode { try await home.database.save(record) } == .serverRecordChanged)
        return record
    }

    /// Lets the server collect what no record holds.
    private func waitADay(_ home: AssetHome) async throws {
        await home.cloud.clock.jump(by: .seconds(25 * 3600))
        try await home.cloud.settle()
        #expect(try home.serverFiles().isEmpty)
    }

    @Test("ASSET-4: a file that was uploaded and collected before its record is uploaded once more")
    func collectedUpload() async throws {
        let home = try await AssetHome()
        let record = try await refusedSave(home)
        try await waitADay(home)
        _ = try await home.database.modifyRecords(
            saving: [record], deleting: [], savePolicy: .allKeys
        ).saveResults[record.recordID]?.get()
        let found = try await home.database.record(for: record.recordID)
        #expect(try home.files.text(of: found["f"]) == "one")
    }

    @Test("ASSET-4: in an atomic zone the others are saved with it")
    func collectedInAtomicZone() async throws {
        let home = try await AssetHome()
        let zoneID = CKRecordZone.ID(zoneName: "Photos")
        try await home.database.save(CKRecordZone(zoneID: zoneID))
        let record = try await refusedSave(home, zone: zoneID)
        try await waitADay(home)
        let other = home.note(try home.files.write("g", "two"), named: "other", zone: zoneID)
        let results = try await home.database.modifyRecords(
            saving: [other, record], deleting: [], savePolicy: .allKeys
        )
        #expect(
            results.saveResults.mapValues(\.ckCode) == [other.recordID: nil, record.recordID: nil])
        let found = try await home.database.records(for: [other.recordID, record.recordID])
        #expect(try home.files.text(of: found[other.recordID]?.get()["f"]) == "two")
        #expect(try home.files.text(of: found[record.recordID]?.get()["f"]) == "one")
    }

    @Test(
        "ASSET-5: without the local file the save fails with assetNotAvailable, and reports it once"
    )
    func noFileLeft() async throws {
        let home = try await AssetHome()
        let found = try await home.savedNote("one")
        try await home.database.deleteRecord(withID: found.recordID)
        try await waitADay(home)
        let staged = try #require((found["f"] as? CKAsset)?.fileURL)
        try FileManager.default.removeItem(at: staged)
        let log = Log<CKError.Code?>()
        let operation = CKModifyRecordsOperation(recordsToSave: [found])
        operation.savePolicy = .allKeys
        operation.perRecordSaveBlock = { log.append($1.ckCode) }
        await home.database.run(operation)
        #expect(log.entries == [.assetNotAvailable])
    }

    @Test("A record that was fetched hours ago is made again with its file")
    func outdatedURL() async throws {
        let home = try await AssetHome()
        let found = try await home.savedNote("one")
        await home.cloud.clock.jump(by: .seconds(5 * 3600))
        try await home.database.deleteRecord(withID: found.recordID)
        _ = try await home.database.modifyRecords(
            saving: [found], deleting: [], savePolicy: .allKeys
        ).saveResults[found.recordID]?.get()
        let again = try await home.database.record(for: found.recordID)
        #expect(try home.files.text(of: again["f"]) == "one")
    }

    /// What happened to a file on the server.
    enum Damage: CaseIterable {
        case removed, emptied, cut
    }

    @Test(
        "ASSET-9, TOK-19: a file that is not there fails its record in every way to fetch it",
        arguments: Damage.allCases
    )
    func missingFile(_ damage: Damage) async throws {
        let home = try await AssetHome(sockets: true)
        let zoneID = CKRecordZone.ID(zoneName: "Photos")
        try await home.database.save(CKRecordZone(zoneID: zoneID))
        let large = String(repeating: "bad", count: 1_000_000)
        let bad = home.note(try home.files.write("bad", large), named: "bad", zone: zoneID)
        try await home.database.save(bad)
        for name in try home.serverFiles() {
            let file = home.cloud.assetFolder
                .appendingPathComponent("kept/\(name.prefix(2))/\(name)")
            switch damage {
            case .removed: try FileManager.default.removeItem(at: file)
            case .emptied: try Data().write(to: file)
            case .cut: try FileHandle(forWritingTo: file).truncate(atOffset: 2_000_000)
            }
        }
        let good = home.note(try home.files.write("good", "good"), named: "good", zone: zoneID)
        try await home.database.save(good)
        let ids = [bad.recordID, good.recordID]
        let expected = [bad.recordID: CKError.Code.assetNotAvailable, good.recordID: nil]

        let fetched = try await home.database.records(for: ids)
        #expect(fetched.mapValues(\.ckCode) == expected)
        #expect(try home.files.text(of: fetched[good.recordID]?.get()["f"]) == "good")
        let partial = try await home.database.records(for: ids, desiredKeys: [])
        #expect(partial.mapValues(\.ckCode) == [bad.recordID: nil, good.recordID: nil])
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let matches = try await home.database.records(matching: query, inZoneWith: zoneID)
        #expect(
            Dictionary(uniqueKeysWithValues: matches.matchResults).mapValues(\.ckCode) == expected
        )
        let changes = try await home.database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(changes.modificationResultsByID.mapValues(\.ckCode) == expected)
        guard case .failure(let error) = fetched[bad.recordID] else { return }
        #expect(error.localizedDescription.contains("field 'f' of record 'bad'"))
        #expect((error as? CKError)?.userInfo[NSUnderlyingErrorKey] is CKError)
        // The operator learns of it from the log.
        let left = await #expect(throws: TestCloudError.self) { try await home.cloud.finish() }
        #expect(left?.description.contains("a file of records is damaged") == true)
    }
}
