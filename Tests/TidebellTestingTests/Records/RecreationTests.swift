// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Saving what was deleted behind the device's back", .finishesClouds)
struct RecreationTests {
    /// A copy with the same ID and fields but without what the server returned: what
    /// an app makes when it drops the cached system fields.
    private func withoutSystemFields(_ record: CKRecord) -> CKRecord {
        let copy = CKRecord(recordType: record.recordType, recordID: record.recordID)
        for key in record.allKeys() { copy[key] = record[key] }
        return copy
    }

    @Test(
        "T-3, SAVE-10, SAVE-11: a deleted zone is zoneNotFound; saved anew, the record has a new creation date"
    )
    func zoneDeleted() async throws {
        let home = try await Household()
        let (phone, laptop) = (home.phone.privateDatabase, home.laptop.privateDatabase)
        let record = try await phone.save(item("a", "1"))
        let created = try #require(record.creationDate)
        await home.cloud.clock.advance(by: .seconds(10))
        try await laptop.deleteRecordZone(withID: Household.feed)

        record["title"] = "2"
        let error = await ckError { try await phone.save(record) }
        #expect(error?.code == .zoneNotFound)
        #expect(error?.localizedDescription.contains("Zone 'Feed' does not exist") == true)

        try await phone.save(CKRecordZone(zoneID: Household.feed))
        try await phone.save(withoutSystemFields(record))
        let fetched = try await laptop.record(for: itemID("a"))
        #expect(fetched["title"] as? String == "2")
        #expect(fetched.creationDate == created.addingTimeInterval(10))
    }

    @Test(
        "T-4, SAVE-9, SAVE-10: a deleted record is unknownItem; saved anew, it has a new creation date"
    )
    func recordDeleted() async throws {
        let home = try await Household()
        let (phone, laptop) = (home.phone.privateDatabase, home.laptop.privateDatabase)
        let record = try await phone.save(item("a", "1"))
        let created = try #require(record.creationDate)
        await home.cloud.clock.advance(by: .seconds(10))
        try await laptop.deleteRecord(withID: record.recordID)

        record["title"] = "2"
        #expect(await ckCode { try await phone.save(record) } == .unknownItem)

        try await phone.save(withoutSystemFields(record))
        let fetched = try await laptop.record(for: itemID("a"))
        #expect(fetched["title"] as? String == "2")
        #expect(fetched.creationDate == created.addingTimeInterval(10))
    }
}
