// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Deleting records", .finishesClouds)
struct DeletionTests {
    @Test("SAVE-23: deleting a record that does not exist succeeds; a missing zone is zoneNotFound")
    func missing() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.deleteRecord(withID: itemID("never"))
        let nowhere = CKRecordZone.ID(zoneName: "Nowhere")
        let code = await ckCode {
            try await database.deleteRecord(withID: itemID("a", zone: nowhere))
        }
        #expect(code == .zoneNotFound)
    }

    @Test("SAVE-23: deleting does not compare change tags")
    func noTagCheck() async throws {
        let home = try await Household()
        let record = try await home.laptop.privateDatabase.save(item("a", "1"))
        record["title"] = "2"
        try await home.laptop.privateDatabase.save(record)
        try await home.phone.privateDatabase.deleteRecord(withID: itemID("a"))
        let code = await ckCode {
            _ = try await home.laptop.privateDatabase.record(for: itemID("a"))
        }
        #expect(code == .unknownItem)
    }

    @Test(
        "REF-2, REF-3, SAVE-21: deleting a target deletes what refers to it with deleteSelf, recursively, without reporting it"
    )
    func cascade() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let comment = item("comment", type: "Comment")
        comment["item"] = CKRecord.Reference(recordID: itemID("a"), action: .deleteSelf)
        let like = item("like", type: "Like")
        like["comment"] = CKRecord.Reference(recordID: itemID("comment"), action: .deleteSelf)
        let loose = item("loose", type: "Comment")
        loose["item"] = CKRecord.Reference(recordID: itemID("a"), action: .none)
        _ = try await database.modifyRecords(
            saving: [item("a"), comment, like, loose],
            deleting: []
        )
        let token = try await database.recordZoneChanges(inZoneWith: Household.feed, since: nil)
            .changeToken
        let results = try await database.modifyRecords(saving: [], deleting: [itemID("a")])
        #expect(Array(results.deleteResults.keys) == [itemID("a")])
        let changes = try await home.laptop.privateDatabase.recordZoneChanges(
            inZoneWith: Household.feed,
            since: token
        )
        let deleted = changes.deletions.map { "\($0.recordID.recordName) \($0.recordType)" }
        #expect(deleted.sorted() == ["a FeedItem", "comment Comment", "like Like"])
        #expect(changes.modificationResultsByID.isEmpty)
        #expect(try await database.record(for: itemID("loose")).recordID == itemID("loose"))
    }

    @Test("SAVE-24: a record that is another's parent is only deleted together with it")
    func parent() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let child = item("child")
        child.setParent(itemID("root"))
        _ = try await database.modifyRecords(saving: [item("root"), child], deleting: [])
        let code = await ckCode { try await database.deleteRecord(withID: itemID("root")) }
        #expect(code == .referenceViolation)
        let results = try await database.modifyRecords(
            saving: [],
            deleting: [itemID("root"), itemID("child")]
        )
        #expect(results.deleteResults.values.allSatisfy { $0.ckCode == nil })
    }

    @Test(
        "REF-6: a parent that does not exist is a referenceViolation; in the same batch it is fine")
    func missingParent() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let child = item("child")
        child.setParent(itemID("root"))
        #expect(await ckCode { try await database.save(child) } == .referenceViolation)
        let results = try await database.modifyRecords(
            saving: [child, item("root")],
            deleting: []
        )
        #expect(results.saveResults.values.allSatisfy { $0.ckCode == nil })
        let fetched = try await home.laptop.privateDatabase.record(for: itemID("child"))
        #expect(fetched.parent?.recordID == itemID("root"))
    }

    @Test("REF-5: any other reference may dangle")
    func danglingReference() async throws {
        let home = try await Household()
        let record = item("a")
        record["item"] = CKRecord.Reference(recordID: itemID("nobody"), action: .deleteSelf)
        try await home.phone.privateDatabase.save(record)
        let fetched = try await home.laptop.privateDatabase.record(for: itemID("a"))
        let reference = fetched["item"] as? CKRecord.Reference
        #expect(reference?.recordID == itemID("nobody"))
        #expect(reference?.action == .deleteSelf)
    }
}
