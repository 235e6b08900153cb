// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// What the error of a conflict gives as the version a client's changes were made to.
@Suite struct AncestorTests {
    private func fetched() -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
        record["title"] = "original"
        record["kept"] = 1
        record.encryptedValues["secret"] = "s"
        record.applyServerState(CKRecord.ServerState(recordChangeTag: "1"))
        record.markSaved()
        return record
    }

    @Test("SAVE-6: the ancestor has the fields from before the first change, and no changes")
    func ancestor() throws {
        let record = fetched()
        for title in ["first", "second"] { record["title"] = title }
        (record["kept"], record["added"]) = (nil, true)
        record.encryptedValues["secret"] = "t"
        record.setParent(CKRecord.ID(recordName: "p"))
        let ancestor = try #require(record.ancestor)
        #expect(ancestor.fields == fetched().fields)
        #expect(ancestor.changedFields == [] && !ancestor.isParentChanged)
        #expect(ancestor.parent == nil && ancestor.recordChangeTag == "1")
        #expect(ancestor.recordID == record.recordID && record["title"] as? String == "second")
    }

    @Test("SAVE-6: a copy of a changed record has the same ancestor")
    func copies() throws {
        let record = fetched()
        record["title"] = "changed"
        let copy = try #require(record.copy() as? CKRecord)
        #expect(copy.ancestor?["title"] as? String == "original")
    }

    @Test("SAVE-6: a record that was never saved has no ancestor, nor one archived with changes")
    func none() throws {
        let record = CKRecord(recordType: "Note")
        record["title"] = "new"
        #expect(record.ancestor == nil)
        let changed = fetched()
        changed["title"] = "changed"
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: changed, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: archive))
        #expect(read.changedKeys() == ["title"] && read.ancestor == nil)
    }

    @Test("SAVE-6, SAVE-29: what was saved is the ancestor of what the app changed meanwhile")
    func changedMeanwhile() {
        var fields = CKRecord.Fields(values: ["title": .string("original")])
        fields.set(.string("sent"), forKey: "title")
        fields.set(.string("newer"), forKey: "title")
        fields.forgetChange(ofKey: "title", savedAs: .string("sent"))
        #expect(fields.changedKeys == ["title"])
        #expect(fields.original?.values == ["title": .string("sent")])
        fields.forgetChange(ofKey: "title", savedAs: .string("newer"))
        #expect(fields.changedKeys == [])
    }
}
