// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

@Suite("Save policies and conflicts", .finishesClouds)
struct SavePolicyTests {
    /// Two devices that both hold version 1 of the same record, which the first
    /// then changes.
    private func conflict() async throws -> (
        phone: CKDatabase, laptop: CKDatabase, phonesCopy: CKRecord, Household
    ) {
        let home = try await Household()
        let (phone, laptop) = (home.phone.privateDatabase, home.laptop.privateDatabase)
        let record = item("a", "original")
        record["server"] = "only"
        try await laptop.save(record)
        let phonesCopy = try await phone.record(for: itemID("a"))
        record["title"] = "laptop"
        try await laptop.save(record)
        return (phone, laptop, phonesCopy, home)
    }

    private func save(
        _ record: CKRecord,
        _ policy: CKModifyRecordsOperation.RecordSavePolicy,
        in database: CKDatabase
    ) async throws -> Result<CKRecord, any Error>? {
        let results = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: policy
        )
        return results.saveResults[record.recordID]
    }

    @Test("SAVE-1: there are three policies; an operation starts with the first")
    func policies() {
        let policies: [CKModifyRecordsOperation.RecordSavePolicy] = [
            .ifServerRecordUnchanged, .changedKeys, .allKeys,
        ]
        #expect(policies.map(\.rawValue) == [0, 1, 2])
        #expect(CKModifyRecordsOperation().savePolicy == .ifServerRecordUnchanged)
    }

    @Test(
        "SAVE-2, SAVE-6: the default policy refuses an outdated version and hands over all versions"
    )
    func ifServerRecordUnchanged() async throws {
        let (phone, _, copy, _) = try await conflict()
        copy["title"] = "phone"
        let error = try #require(await ckError { try await phone.save(copy) })
        #expect(error.code == .serverRecordChanged)
        #expect(error.localizedDescription.contains("oplock"))
        #expect(error.serverRecord?["title"] as? String == "laptop")
        #expect(error.clientRecord?["title"] as? String == "phone")
        #expect(error.ancestorRecord?["title"] as? String == "original")
        #expect(error.ancestorRecord?["server"] as? String == "only")
        #expect(error.ancestorRecord?.changedKeys() == [])
        #expect(error.ancestorRecord?.recordChangeTag == copy.recordChangeTag)
        #expect(error.serverRecord?.recordID == itemID("a"))
        #expect(error.serverRecord?.recordChangeTag != copy.recordChangeTag)
    }

    @Test(
        "T-5, SAVE-6: whoever saves second conflicts, once; merged into the server's record both agree",
        arguments: [false, true])
    func bothOrders(phoneIsFirst: Bool) async throws {
        let home = try await Household()
        let devices = [home.phone.privateDatabase, home.laptop.privateDatabase]
        let order = phoneIsFirst ? devices : devices.reversed()
        try await order[0].save(item("a", "original"))
        var copies: [CKRecord] = []
        for database in order { copies.append(try await database.record(for: itemID("a"))) }
        var conflicts = 0
        for (index, database) in order.enumerated() {
            copies[index]["key\(index)"] = "value\(index)"
            guard let error = await ckError({ try await database.save(copies[index]) }) else {
                continue
            }
            conflicts += 1
            #expect(error.code == .serverRecordChanged)
            let server = try #require(error.serverRecord)
            server["key\(index)"] = "value\(index)"
            try await database.save(server)
        }
        #expect(conflicts == 1)
        for database in devices {
            let record = try await database.record(for: itemID("a"))
            #expect(record.allKeys().sorted() == ["key0", "key1", "title"])
            #expect(record["key0"] as? String == "value0")
            #expect(record["key1"] as? String == "value1")
        }
    }

    @Test("SAVE-3: changedKeys overwrites without looking, with the changed keys only")
    func changedKeys() async throws {
        let (phone, laptop, copy, _) = try await conflict()
        copy["phone"] = "too"
        let result = try await save(copy, .changedKeys, in: phone)
        #expect(result?.ckCode == nil)
        let record = try await laptop.record(for: itemID("a"))
        #expect(record["title"] as? String == "laptop")
        #expect(record["phone"] as? String == "too")
    }

    @Test("SAVE-3: allKeys overwrites with every local key; keys only the server has stay")
    func allKeys() async throws {
        let (phone, laptop, copy, _) = try await conflict()
        let other = try await laptop.record(for: itemID("a"))
        other["new"] = "on the server"
        try await laptop.save(other)
        copy["phone"] = "too"
        let result = try await save(copy, .allKeys, in: phone)
        #expect(result?.ckCode == nil)
        let record = try await laptop.record(for: itemID("a"))
        #expect(record["title"] as? String == "original")
        #expect(record["phone"] as? String == "too")
        #expect(record["new"] as? String == "on the server")
    }

    @Test(
        "SAVE-4, SAVE-29, SAVE-30: a save gives a new tag, server dates and users, and no changed keys"
    )
    func serverState() async throws {
        let home = try await Household()
        let record = item("a", "1")
        #expect(record.recordChangeTag == nil && record.changedKeys() == ["title"])
        let first = try await home.laptop.privateDatabase.save(record)
        let user = try await home.laptop.userRecordName()
        #expect(first.changedKeys() == [])
        #expect(first.creationDate == home.cloud.clock.date)
        #expect(
            first.creatorUserRecordID?.recordName == CKCurrentUserDefaultName
                || first.creatorUserRecordID?.recordName == user)
        let tag = try #require(first.recordChangeTag)
        await home.cloud.clock.advance(by: .seconds(60))
        first["title"] = "2"
        let second = try await home.laptop.privateDatabase.save(first)
        #expect(second.recordChangeTag != tag)
        #expect(second.modificationDate == home.cloud.clock.date)
        #expect(second.creationDate == home.cloud.clock.date.addingTimeInterval(-60))
        #expect(second.lastModifiedUserRecordID != nil)
    }

    @Test(
        "SAVE-8: a record built from scratch with an ID that exists is refused by the default policy, merged by the others"
    )
    func existingID() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        let original = item("a", "original")
        original["kept"] = "yes"
        try await database.save(original)
        let error = try #require(await ckError { try await database.save(item("a", "scratch")) })
        #expect(error.code == .serverRecordChanged)
        #expect(error.localizedDescription.contains("record to insert already exists"))
        #expect(error.serverRecord?["title"] as? String == "original")
        for policy in [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys] {
            let result = try await save(item("a", "scratch"), policy, in: database)
            #expect(result?.ckCode == nil)
        }
        let record = try await database.record(for: itemID("a"))
        #expect(record["title"] as? String == "scratch")
        #expect(record["kept"] as? String == "yes")
    }

    @Test("SAVE-25: neither a child nor a reference changes the tag of the record it points to")
    func tagsOfTargets() async throws {
        let home = try await Household()
        let database = home.laptop.privateDatabase
        let parent = try await database.save(item("parent", "1"))
        let child = item("child", "2")
        child.setParent(parent)
        child["link"] = CKRecord.Reference(record: parent, action: .deleteSelf)
        try await database.save(child)
        let fetched = try await home.phone.privateDatabase.record(for: parent.recordID)
        #expect(fetched.recordChangeTag == parent.recordChangeTag)
        // So the parent can be saved without a conflict by a device that has not seen the child.
        parent["title"] = "3"
        try await database.save(parent)
    }

    @Test("SAVE-12: setting a key to nil removes the field")
    func removeField() async throws {
        let home = try await Household()
        let record = try await home.laptop.privateDatabase.save(item("a", "x"))
        record["title"] = nil
        try await home.laptop.privateDatabase.save(record)
        let fetched = try await home.phone.privateDatabase.record(for: itemID("a"))
        #expect(fetched.allKeys() == [])
    }

    @Test("SAVE-13: a value of another type than the field's is refused, naming the field")
    func wrongType() async throws {
        let home = try await Household()
        let database = home.phone.privateDatabase
        try await database.save(item("a", "text"))
        let record = item("b")
        record["title"] = 7
        let error = await ckError { try await database.save(record) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("title") == true)
    }

    @Test("SAVE-20: a fetch by ID right after a save is current")
    func readYourWrites() async throws {
        let home = try await Household()
        for index in 0..<20 {
            let record = item("a\(index)", "\(index)")
            try await home.laptop.privateDatabase.save(record)
            let read = try await home.phone.privateDatabase.record(for: record.recordID)
            #expect(read["title"] as? String == "\(index)")
            #expect(read.recordChangeTag == record.recordChangeTag)
        }
    }
}
