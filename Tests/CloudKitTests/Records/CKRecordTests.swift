// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing

@Suite struct CKRecordTests {
    @Test("REC-7: a record without an ID gets a UUID in the default zone")
    func freshID() {
        let record = CKRecord(recordType: "Item")
        #expect(UUID(uuidString: record.recordID.recordName) != nil)
        #expect(record.recordID.zoneID == .default)
        #expect(CKRecord.ID() != CKRecord.ID())
        #expect(CKRecord.ID(recordName: "a").zoneID == CKRecordZone.default().zoneID)
    }

    @Test("REC-8: allKeys lists fields with a value, changedKeys also those removed")
    func keys() {
        let record = CKRecord(recordType: "Item")
        record["b"] = 1
        record["a"] = 2
        record["b"] = nil
        #expect(record.allKeys() == ["a"])
        #expect(record.changedKeys() == ["a", "b"])
    }

    @Test("REC-8: allTokens splits the text of all fields into words")
    func tokens() {
        let record = CKRecord(recordType: "Item")
        record["a"] = "The tide, the bell"
        record["b"] = ["rings", "twice: tide"]
        record["c"] = 5
        #expect(record.allTokens() == ["The", "tide", "the", "bell", "rings", "twice"])
    }

    @Test("REC-2: type and ID of a record are what it was made with")
    func identity() {
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "o")
        let id = CKRecord.ID(recordName: "n", zoneID: zoneID)
        let record = CKRecord(recordType: "Item", recordID: id)
        #expect(record.recordType == "Item")
        #expect(record.recordID == id)
        #expect(record.recordChangeTag == nil)
        #expect(record.creationDate == nil)
        #expect(record.modificationDate == nil)
        #expect(record.creatorUserRecordID == nil)
        #expect(record.lastModifiedUserRecordID == nil)
        #expect(record.share == nil)
    }

    @Test("a record compares by identity, its ID by value")
    func equality() {
        let id = CKRecord.ID(recordName: "n")
        let record = CKRecord(recordType: "Item", recordID: id)
        #expect(record != CKRecord(recordType: "Item", recordID: id))
        #expect(record == record)
        #expect(id == CKRecord.ID(recordName: "n"))
        #expect(Set([id, CKRecord.ID(recordName: "n")]).count == 1)
        #expect(id != CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Z")))
    }

    @Test("a copy has the same identity and values, and lives its own life")
    func copy() throws {
        let record = CKRecord(recordType: "Item", recordID: CKRecord.ID(recordName: "n"))
        record["a"] = 1
        record.encryptedValues["e"] = "s"
        let copy = try #require(record.copy() as? CKRecord)
        copy["a"] = 2
        #expect(copy !== record)
        #expect(copy.recordID == record.recordID)
        #expect(copy.encryptedValues["e"] as? String == "s")
        #expect(copy["a"] as? Int == 2)
        #expect(record["a"] as? Int == 1)
    }

    @Test("REF-6: a parent is set by record, by ID or as a reference without action")
    func parent() {
        let child = CKRecord(recordType: "Item")
        let parent = CKRecord(recordType: "List")
        child.setParent(parent)
        #expect(child.parent == CKRecord.Reference(record: parent, action: .none))
        child.setParent(CKRecord.ID(recordName: "p"))
        #expect(child.parent?.recordID == CKRecord.ID(recordName: "p"))
        child.parent = nil
        #expect(child.parent == nil)
    }

    @Test("REF-1: a reference compares target and action")
    func reference() {
        let id = CKRecord.ID(recordName: "a")
        let reference = CKRecord.Reference(recordID: id, action: .none)
        #expect(reference == CKRecord.Reference(recordID: id, action: .none))
        #expect(reference != CKRecord.Reference(recordID: id, action: .deleteSelf))
        #expect(CKRecord.ReferenceAction.deleteSelf.rawValue == 1)
    }

    @Test("the names of system fields and types have Apple's values")
    func names() {
        #expect(CKRecord.SystemType.userRecord == "Users")
        #expect(CKRecord.SystemType.share == "cloudkit.share")
        #expect(CKRecord.SystemFieldKey.recordID == "___recordID")
        #expect(CKRecord.SystemFieldKey.creationDate == "___createTime")
        #expect(CKRecord.SystemFieldKey.modificationDate == "___modTime")
        #expect(CKRecord.SystemFieldKey.creatorUserRecordID == "___createdBy")
        #expect(CKRecord.SystemFieldKey.lastModifiedUserRecordID == "___modifiedBy")
        #expect(CKRecord.SystemFieldKey.parent == "___parent")
        #expect(CKRecord.SystemFieldKey.share == "___share")
        #expect(CKCurrentUserDefaultName == "__defaultOwner__")
    }

    @Test("a subclass inherits the initializers and may override")
    func subclass() {
        #expect(TaggedRecord(recordType: "Item").recordChangeTag == "mine")
    }

    @Test("many threads may write one record at once")
    func threads() async {
        let record = CKRecord(recordType: "Item")
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<64 {
                group.addTask { record["k\(index)"] = index }
            }
        }
        #expect(record.allKeys().count == 64)
    }
}

/// A double as the tests of programs make them.
private final class TaggedRecord: CKRecord, @unchecked Sendable {
    override var recordChangeTag: String? { "mine" }
}

/// What Apple's class answers with an exception ends the program here.
@Suite struct CKRecordPreconditionTests {
    @Test("REC-2: an empty record type ends the program")
    func emptyType() async {
        await #expect(processExitsWith: .failure) { _ = CKRecord(recordType: "") }
    }

    @Test("REC-1: an empty record name ends the program")
    func emptyName() async {
        await #expect(processExitsWith: .failure) { _ = CKRecord.ID(recordName: "") }
    }

    @Test("REC-3: an empty field name ends the program")
    func emptyKey() async {
        await #expect(processExitsWith: .failure) { CKRecord(recordType: "T")[""] = 1 }
    }

    @Test("REC-4: a list of mixed types ends the program")
    func mixedList() async {
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "T")["a"] = ["x", 1] as NSArray
        }
    }

    @Test("REC-4: a list in a list ends the program")
    func nestedList() async {
        await #expect(processExitsWith: .failure) { CKRecord(recordType: "T")["a"] = [["x"]] }
    }

    @Test("REC-4: a value of another type ends the program")
    func otherType() async {
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "T").setValue(UUID(), forKey: "a")
        }
    }

    @Test("REC-11: an encrypted reference ends the program")
    func encryptedReference() async {
        await #expect(processExitsWith: .failure) {
            let record = CKRecord(recordType: "T")
            record.encryptedValues["a"] = CKRecord.Reference(record: record, action: .none)
        }
    }

    @Test("REF-6: a parent with an action ends the program")
    func parentWithAction() async {
        await #expect(processExitsWith: .failure) {
            let record = CKRecord(recordType: "T")
            record.parent = CKRecord.Reference(record: record, action: .deleteSelf)
        }
    }
}
