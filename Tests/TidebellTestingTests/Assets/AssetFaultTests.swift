// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Synchronization
import Testing
import TidebellTesting

@Suite("Assets when something goes wrong", .finishesClouds)
struct AssetFaultTests {
    @Test(
        "ASSET-5: a file that changes after the upload is uploaded again; one that did not, is not")
    func uploadedOnce() async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        let url = try files.write("f", "one")
        let asset = CKAsset(fileURL: url)
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        record["f"] = asset
        try await phone.privateDatabase.save(record)
        record["f"] = asset
        // Whoever uploaded now would miss the file.
        try FileManager.default.removeItem(at: url)
        try await phone.privateDatabase.save(record)
        try files.write("f", "another")
        record["f"] = asset
        try await phone.privateDatabase.save(record)
        let found = try await phone.privateDatabase.record(for: record.recordID)
        #expect(try files.text(of: found["f"]) == "another")
    }

    @Test("ASSET-3: an asset whose staged file is gone is saved by what the server knows")
    func purgedStaging() async throws {
        let home = try await AssetHome()
        let found = try await home.savedNote("one")
        let staged = try #require((found["f"] as? CKAsset)?.fileURL)
        try FileManager.default.removeItem(at: staged)
        found["title"] = "new"
        _ = try await home.database.modifyRecords(
            saving: [found], deleting: [], savePolicy: .allKeys
        ).saveResults[found.recordID]?.get()
        let again = try await home.database.record(for: found.recordID)
        #expect(try home.files.text(of: again["f"]) == "one")
        #expect(again["title"] == "new")
    }

    @Test("An asset of another record is uploaded for the record it is put into")
    func copied() async throws {
        let home = try await AssetHome()
        let found = try await home.savedNote("one")
        let copy = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "copy"))
        copy["g"] = found["f"] as? CKAsset
        try await home.database.save(copy)
        let read = try await home.database.record(for: copy.recordID)
        #expect(try home.files.text(of: read["g"]) == "one")
    }

    @Test("ASSET-5: in an atomic zone one missing file fails the others with batchRequestFailed")
    func atomic() async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        let zoneID = CKRecordZone.ID(zoneName: "Photos")
        try await phone.privateDatabase.save(CKRecordZone(zoneID: zoneID))
        let records = try ["good", "bad"].map { name in
            let record = CKRecord(
                recordType: "Photo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
            )
            record["f"] = CKAsset(
                fileURL: name == "good"
                    ? try files.write(name, name) : files.folder.appendingPathComponent(name)
            )
            return record
        }
        let results = try await phone.privateDatabase.modifyRecords(saving: records, deleting: [])
        let codes = records.map { record -> CKError.Code? in
            guard case .failure(let error) = results.saveResults[record.recordID] else {
                return nil
            }
            return (error as? CKError)?.code
        }
        #expect(codes == [.batchRequestFailed, .assetFileNotFound])
    }

    @Test("ASSET-4: a file goes a day after its record, a held one stays, also over a restart")
    func collected() async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        for name in ["gone", "kept"] {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            record["f"] = CKAsset(fileURL: try files.write(name, name))
            try await phone.privateDatabase.save(record)
        }
        let gone = try await phone.privateDatabase.records(
            for: [CKRecord.ID(recordName: "gone")]
        ).values.first?.get()
        try await phone.privateDatabase.deleteRecord(withID: CKRecord.ID(recordName: "gone"))
        try await cloud.restart()
        await cloud.clock.jump(by: .seconds(25 * 3600))
        try await cloud.settle()
        let kept = try await phone.privateDatabase.record(for: CKRecord.ID(recordName: "kept"))
        #expect(try files.text(of: kept["f"]) == "kept")
        // What was deleted a day ago is uploaded again like any other file.
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "new"))
        record["f"] = gone?["f"] as? CKAsset
        try await phone.privateDatabase.save(record)
        let again = try await phone.privateDatabase.record(for: record.recordID)
        #expect(try files.text(of: again["f"]) == "gone")
    }

    @Test("A file of 40 MB goes up and down; progress is reported on the way, both ways")
    func large() async throws {
        let home = try await AssetHome(sockets: true)
        let url = home.files.folder.appendingPathComponent("large")
        try Data(repeating: 7, count: 40 << 20).write(to: url)
        let record = home.note(url)
        let reported = Mutex<[Double]>([])
        let save = CKModifyRecordsOperation(recordsToSave: [record])
        save.perRecordProgressBlock = { _, value in reported.withLock { $0.append(value) } }
        await home.database.run(save)
        var values = reported.withLock { $0 }
        #expect(values.count > 10 && values.last == 1 && values == values.sorted())

        reported.withLock { $0 = [] }
        let copy = Mutex<URL?>(nil)
        let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
        fetch.perRecordProgressBlock = { id, value in
            #expect(id == record.recordID)
            reported.withLock { $0.append(value) }
        }
        fetch.perRecordResultBlock = { _, result in
            copy.withLock { $0 = ((try? result.get())?["f"] as? CKAsset)?.fileURL }
        }
        await home.database.run(fetch)
        values = reported.withLock { $0 }
        #expect(values.count > 10 && values.last == 1 && values == values.sorted())
        let path = try #require(copy.withLock { $0?.path })
        #expect(FileManager.default.contentsEqual(atPath: url.path, andPath: path))
    }
}
