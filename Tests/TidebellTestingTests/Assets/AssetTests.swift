// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import Testing
import TidebellTesting

@Suite("Assets, from device to device", .finishesClouds)
struct AssetTests {
    @Test(
        "ASSET-1, ASSET-3: a file reaches another device as a private copy",
        arguments: [false, true])
    func roundTrip(sockets: Bool) async throws {
        let cloud = try await TestCloud(sockets: sockets)
        let files = try Files()
        let url = try files.write("picture", "hello")
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        let asset = CKAsset(fileURL: url)
        record["picture"] = asset
        let phone = try await cloud.device(user: "anna")
        try await phone.privateDatabase.save(record)
        #expect(asset.fileURL == url)
        #expect(FileManager.default.fileExists(atPath: url.path))

        let laptop = try await cloud.device(user: "anna")
        let found = try await laptop.privateDatabase.record(for: record.recordID)
        let copy = try #require((found["picture"] as? CKAsset)?.fileURL)
        #expect(copy != url)
        #expect(try String(contentsOf: copy, encoding: .utf8) == "hello")
        let again = try await laptop.privateDatabase.record(for: record.recordID)
        #expect((again["picture"] as? CKAsset)?.fileURL != copy)
    }

    @Test("REC-4: a date beside a file comes back equal to the one that was saved")
    func dateBesideFile() async throws {
        let home = try await Household()
        let files = try Files()
        let taken = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
        let record = item("a")
        record["taken"] = taken
        record["picture"] = CKAsset(fileURL: try files.write("picture", "hello"))
        try await home.phone.privateDatabase.save(record)
        let fetched = try await home.laptop.privateDatabase.record(for: itemID("a"))
        #expect(fetched["taken"] as? Date == taken)
    }

    @Test("ASSET-6: excluding the key avoids the download; SAVE-7: a conflict downloads nothing")
    func notDownloaded() async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        record["picture"] = CKAsset(fileURL: try files.write("picture", "hello"))
        record["title"] = "t"
        try await phone.privateDatabase.save(record)
        let results = try await phone.privateDatabase.records(
            for: [record.recordID], desiredKeys: ["title"]
        )
        let partial = try #require(try results[record.recordID]?.get())
        #expect(partial["picture"] == nil)
        #expect(partial["title"] == "t")

        let other = CKRecord(recordType: "Note", recordID: record.recordID)
        other["title"] = "mine"
        let error = try await #require(throws: CKError.self) {
            try await phone.privateDatabase.save(other)
        }
        let server = try #require(error.serverRecord?["picture"] as? CKAsset)
        #expect(server.fileURL == nil)
        // Merged into it, the asset stays what it was.
        let merged = try #require(error.serverRecord)
        merged["title"] = "merged"
        try await phone.privateDatabase.save(merged)
        let found = try await phone.privateDatabase.record(for: record.recordID)
        #expect(try files.text(of: found["picture"]) == "hello")
        #expect(found["title"] == "merged")
    }

    @Test("ASSET-5: a missing file fails with assetFileNotFound, a folder with assetNotAvailable")
    func unreadable() async throws {
        let cloud = try await TestCloud()
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        for (url, code) in [
            (files.folder.appendingPathComponent("none"), CKError.Code.assetFileNotFound),
            (files.folder, .assetNotAvailable),
        ] {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
            record["picture"] = CKAsset(fileURL: url)
            let error = try await #require(throws: CKError.self) {
                try await phone.privateDatabase.save(record)
            }
            #expect(error.code == code)
            #expect(error.localizedDescription.contains("field 'picture' of record 'n'"))
        }
    }

    @Test("Records keep their order, and each its own file, however many there are")
    func many() async throws {
        let cloud = try await TestCloud(sockets: true)
        let files = try Files()
        let phone = try await cloud.device(user: "anna")
        let zoneID = CKRecordZone.ID(zoneName: "Photos")
        try await phone.privateDatabase.save(CKRecordZone(zoneID: zoneID))
        let records = try (0..<40).map { number in
            let record = CKRecord(
                recordType: "Photo",
                recordID: CKRecord.ID(recordName: "p\(number)", zoneID: zoneID)
            )
            record["file"] = CKAsset(fileURL: try files.write("f\(number)", "photo \(number)"))
            record["list"] = [
                CKAsset(fileURL: try files.write("a\(number)", "a")),
                CKAsset(fileURL: try files.write("b\(number)", "b \(number)")),
            ]
            return record
        }
        let saved = try await phone.privateDatabase.modifyRecords(saving: records, deleting: [])
        for record in records { _ = try saved.saveResults[record.recordID]?.get() }
        let laptop = try await cloud.device(user: "anna")
        let changes = try await laptop.privateDatabase.recordZoneChanges(
            inZoneWith: zoneID, since: nil
        )
        #expect(changes.modificationResultsByID.count == 40)
        for (number, record) in records.enumerated() {
            let found = try #require(
                try changes.modificationResultsByID[record.recordID]?.get().record
            )
            #expect(try files.text(of: found["file"]) == "photo \(number)")
            let list = try #require(found["list"] as? [CKAsset])
            #expect(try list.map { try files.text(of: $0) } == ["a", "b \(number)"])
        }
    }
}
