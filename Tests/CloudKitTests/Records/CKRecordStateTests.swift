// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// What operations do with a record between the program and the wire.
@Suite struct CKRecordStateTests {
    private let identity = CKRecord.Identity(
        recordType: "Item",
        recordID: CKRecord.ID(recordName: "n")
    )

    @Test("SAVE-29: after a save the record has the server's state and no changed keys")
    func saved() {
        let record = CKRecord(recordType: "Item")
        record["a"] = 1
        record.encryptedValues["b"] = 2
        record.setParent(CKRecord.ID(recordName: "p"))
        let server = CKRecord.ServerState(
            recordChangeTag: "t1",
            creationDate: Date(timeIntervalSinceReferenceDate: 1),
            creatorUserRecordID: CKRecord.ID(recordName: "u"),
            modificationDate: Date(timeIntervalSinceReferenceDate: 2),
            lastModifiedUserRecordID: CKRecord.ID(recordName: "v")
        )
        record.applyServerState(server)
        record.markSaved()
        #expect(record.changedKeys().isEmpty)
        #expect(record.encryptedValues.changedKeys().isEmpty)
        #expect(!record.isParentChanged)
        #expect(record.recordChangeTag == "t1")
        #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 1))
        #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 2))
        #expect(record.creatorUserRecordID == CKRecord.ID(recordName: "u"))
        #expect(record.lastModifiedUserRecordID == CKRecord.ID(recordName: "v"))
        #expect(record["a"] as? Int == 1)
    }

    @Test("REC-8: a fetched record has values and no changed keys")
    func fetched() {
        let record = CKRecord(
            fetched: identity,
            server: CKRecord.ServerState(recordChangeTag: "t"),
            fields: [
                CKRecord.Field(key: "a", value: .int64(1)),
                CKRecord.Field(key: "b", value: .string("s"), isEncrypted: true),
            ]
        )
        #expect(record.allKeys() == ["a"])
        #expect(record.encryptedValues.allKeys() == ["b"])
        #expect(record.changedKeys().isEmpty)
        #expect(record.changedFields.isEmpty)
    }

    @Test("SAVE-12: changed fields hold removed ones without a value")
    func changedFields() {
        let record = CKRecord(
            fetched: identity,
            server: CKRecord.ServerState(),
            fields: [CKRecord.Field(key: "a", value: .int64(1))]
        )
        record["a"] = nil
        record["b"] = "x"
        record.encryptedValues["c"] = 2.5
        #expect(
            record.changedFields == [
                CKRecord.Field(key: "a", value: nil),
                CKRecord.Field(key: "b", value: .string("x")),
                CKRecord.Field(key: "c", value: .double(2.5), isEncrypted: true),
            ]
        )
        #expect(
            record.fields == [
                CKRecord.Field(key: "b", value: .string("x")),
                CKRecord.Field(key: "c", value: .double(2.5), isEncrypted: true),
            ]
        )
    }

    @Test("a field name stands for one value, plain or encrypted")
    func movedField() {
        let record = CKRecord(recordType: "Item")
        record["a"] = 1
        record.encryptedValues["a"] = 2
        let encrypted = CKRecord.Field(key: "a", value: .int64(2), isEncrypted: true)
        #expect(record.changedFields == [encrypted])
        record["a"] = 3
        #expect(record.changedFields == [CKRecord.Field(key: "a", value: .int64(3))])
        #expect(record.fields == [CKRecord.Field(key: "a", value: .int64(3))])
    }
}
